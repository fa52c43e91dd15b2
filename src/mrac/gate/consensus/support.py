"""Whether readings support relative depth: how much better they must be predicted with it than without it."""

from typing import Final, NamedTuple

import numpy as np

from mrac.conventions import FloatArray

# Readings in one row or corner say little about the rest, where the network is all there is: there it must be
# contradicted by so much. An area below the second, in squares of the length scale of position, is such a place: half
# of a 4:3 image.
UNSPREAD, SPREAD = 20.0, 0.26
FULL_EVIDENCE: Final = (10, 50)  # inliers less outliers, from which on evidence is asked for, and asked for in full
# Evidence rewards a little more precision at many readings, which a ramp or noise may give by chance. So residuals must
# fall too, in the mean: by the first, as a logarithm; for what is missing of it the second is asked for, per unit. A
# residual counts for no more than the third, in log depth, since those of outliers have any size.
GAIN, PER_GAIN, LARGE = 0.07, 60.0, 0.15
LEAST: Final = 1e-3  # of a mean residual: what is smaller than a thousandth of the depth is rounding, or a bare wall


class Support(NamedTuple):
    """What readings say of relative depth, from the models with it and without it.

    Attributes:
        added_evidence: log evidence that relative depth adds.
        residual_gain: ln of the mean leave-one-out residual without relative depth, less that with it.
        majority: number of readings that are inliers, less the number of outliers.
        area: that the readings cover, in squares of the length scale of position.
    """

    added_evidence: float
    residual_gain: float
    majority: float
    area: float

    def suffices(self, min_evidence: float) -> bool:
        """Whether relative depth is to be used."""
        return self.added_evidence >= self.needed_evidence(min_evidence)

    def needed_evidence(self, min_evidence: float) -> float:
        """Log evidence that relative depth must add, `min_evidence` being for many inliers all over the image."""
        few, many = FULL_EVIDENCE
        counts = min(max((self.majority - few) / (many - few), 0.0), 1.0)
        unspread = max(1.0 - self.area / SPREAD, 0.0)
        missing = PER_GAIN * max(GAIN - self.residual_gain, 0.0) * counts * (1.0 - unspread)
        return min(min_evidence, min_evidence * counts) + missing - UNSPREAD * unspread


def residual_gain(with_relative: FloatArray, without: FloatArray) -> float:
    """By how much the mean of (K,) residuals falls with relative depth, as a logarithm; see `LARGE`."""
    of_both = [max(float(np.minimum(np.abs(each), LARGE).mean()), LEAST) for each in (without, with_relative)]
    return float(np.log(of_both[0] / of_both[1]))

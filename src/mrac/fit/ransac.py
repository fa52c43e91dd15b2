"""RANSAC consensus, seeded, with a least-squares line on the consensus set (Marsal et al.'s rescaling step)."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.fit._base import Fit
from mrac.fit.ols import least_squares
from mrac.line.ransac import consensus
from mrac.options import check_numbers
from mrac.types import FitResult, Samples


@dataclass(frozen=True, kw_only=True)
class Ransac(Fit):
    """The line through two anchors that most others agree with, then least squares on those.

    Attributes:
        threshold: agreement in units of y; 0 takes the median absolute deviation of y, scikit-learn's rule.
        trials: pairs drawn; all pairs are tried where there are no more than that.
        seed: of the draw.
    """

    threshold: float = 0.0
    trials: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        check_numbers(self, 0.0, 1e9, only=("threshold",))
        check_numbers(self, 1, 1e7, only=("trials",))
        check_numbers(self, 0, 2**32 - 1, only=("seed",))

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`."""
        threshold = self.threshold or float(np.median(np.abs(y - np.median(y))))
        inlier = consensus(x, y, threshold, self.trials, self.seed)
        return least_squares(x, y, samples.weight, inlier)


IMPLEMENTATION = Ransac

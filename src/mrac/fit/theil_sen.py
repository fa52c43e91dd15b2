"""Theil–Sen: the median of all pairwise slopes, exactly, at any number of anchors (the paper's eq. 4)."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.fit._base import Fit, line_covariance
from mrac.line.theil_sen import theil_sen_line
from mrac.types import FitResult, Samples

_EFFICIENCY = 0.955  # of the Theil–Sen slope against least squares under Gaussian noise (3/π; Sen 1968)


@dataclass(frozen=True, kw_only=True)
class TheilSen(Fit):
    """Breakdown point 29 %; needs no threshold and no seed. Weights are not used: a median of pairs has none."""

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`; the covariance is the Gaussian one at the residuals' median absolute deviation."""
        slope, shift = theil_sen_line(x, y)
        sigma = 1.4826 * float(np.median(np.abs(y - (slope * x + shift))))
        covariance = line_covariance(x, np.ones(x.size), sigma) / _EFFICIENCY
        return FitResult(slope, shift, covariance, sigma, np.ones(x.size, np.bool_))


IMPLEMENTATION = TheilSen

"""Theil–Sen: the median of all pairwise slopes, exactly, at any number of anchors (the paper's eq. 4)."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.fit.base import Fit
from mrac.robust_line.least_squares import line_covariance
from mrac.robust_line.theil_sen import MAD_TO_SIGMA, theil_sen_line
from mrac.types import FitResult, Samples

# Against least squares under Gaussian noise: of the median of slopes (3/π; Sen 1968), and of the median intercept.
_SLOPE_EFFICIENCY: Final = 3.0 / math.pi
_MEDIAN_EFFICIENCY: Final = 2.0 / math.pi


@dataclass(frozen=True, kw_only=True)
class TheilSen(Fit):
    """Breakdown point 29 %; needs no threshold and no seed. Weights are not used: a median of pairs has none."""

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`; the covariance is the Gaussian one at the residuals' median absolute deviation."""
        slope, shift = theil_sen_line(x, y)
        sigma = MAD_TO_SIGMA * float(np.median(np.abs(y - (slope * x + shift))))
        slope_sigma, level_sigma = sigma / _SLOPE_EFFICIENCY**0.5, sigma / _MEDIAN_EFFICIENCY**0.5
        covariance = line_covariance(x, np.ones(x.size), slope_sigma, level_sigma)
        return FitResult(slope, shift, covariance, sigma, np.ones(x.size, np.bool_))


IMPLEMENTATION = TheilSen

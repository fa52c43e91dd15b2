"""Global minimum of the truncated absolute relative error (MoGe's alignment, Wang et al. 2025)."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.fit.base import Fit
from mrac.registry import check_numbers
from mrac.robust_line.least_squares import line_covariance
from mrac.robust_line.relative_error import error_unit
from mrac.robust_line.truncated_l1 import truncated_l1_line
from mrac.types import FitResult, Samples

_EFFICIENCY: Final = 2.0 / math.pi  # of least absolute deviations under Gaussian noise


@dataclass(frozen=True, kw_only=True)
class TruncatedL1(Fit):
    """An anchor's loss is its relative error, constant from `limit` on.

    Where the slope must be positive, the best of the local minima that have such a slope is taken, if any has.

    Attributes:
        limit: relative error beyond which an anchor has no further influence. MoGe trains with 1; for readings that
            may be wrong it is the largest error of a right one.
    """

    limit: float = 0.2

    def __post_init__(self) -> None:
        check_numbers(self, 1e-9, 1e9)

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`; `used` are the anchors within the limit."""
        unit = error_unit(y, samples.space)
        scale, shift, _ = truncated_l1_line(x, y, samples.weight / unit, float(self.limit), samples.native)
        residual = y - (scale * x + shift)
        used = np.abs(residual) <= self.limit * unit
        if np.count_nonzero(used) < 3 or np.ptp(x[used]) == 0.0:
            used[:] = True
        sigma = float(np.sqrt(residual[used] @ residual[used] / (np.count_nonzero(used) - 2)))
        deviation = sigma / _EFFICIENCY**0.5
        covariance = line_covariance(x[used], np.ones(np.count_nonzero(used)), deviation, deviation)
        return FitResult(scale, shift, covariance, sigma, used)


IMPLEMENTATION = TruncatedL1

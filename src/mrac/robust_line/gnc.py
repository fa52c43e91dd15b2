"""Graduated non-convexity (GNC) for a line: truncated least squares by a sequence of less convex problems.

Yang, Antonante, Tzoumas, Carlone, "Graduated Non-Convexity for Robust Spatial Perception" (RA-L 2020), GNC-TLS.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.registry import check_numbers
from mrac.robust_line.least_squares import least_squares
from mrac.robust_line.relative_error import InlierSelection

_MAX_ROUNDS: Final = 1000  # of a schedule that needs 7 per factor of ten between the largest residual and the threshold


@dataclass(frozen=True, kw_only=True)
class GncOptions(InlierSelection):
    """Options of the GNC gate and the GNC fit, beside those of `InlierSelection`.

    Attributes:
        growth: factor of the control parameter μ from round to round; 1.4 is the authors'.
    """

    growth: float = 1.4

    def __post_init__(self) -> None:
        check_numbers(self, 1e-9, 1e9, only=("threshold",))
        check_numbers(self, 1.001, 1e3, only=("growth",))

    def inlier_set(self, x: FloatArray, y: FloatArray, unit: FloatArray) -> BoolArray:
        """The inlier set of truncated least squares; values of `unit` below its median are raised to it.

        It starts from least squares, without a random draw: the same points give the same result, and every line on the
        way is a fit to most of them. Many outliers on one side move that start so far that it does not recover.
        """
        # The weight is 1 / unit²: in depth a reading that is far too near, with the least unit, must not get the
        # largest weight while all are still inliers.
        unit = np.maximum(unit, np.median(unit))
        c2 = self.threshold**2
        weight = np.ones(x.size)
        error2 = _error2(x, y, unit, weight)
        if 2.0 * error2.max() <= c2:
            return np.ones(x.size, np.bool_)
        mu = c2 / (2.0 * error2.max() - c2)
        for _ in range(_MAX_ROUNDS):
            with np.errstate(divide="ignore"):
                partial = np.sqrt(c2 * mu * (mu + 1.0) / error2) - mu
            new = np.clip(partial, 0.0, 1.0)  # 1 below μ/(μ+1)·c², 0 above (μ+1)/μ·c²: the formula's own limits
            if not _determine_slope(x[new > 0.0]):
                break  # the last line is kept
            weight = new
            if ((weight == 0.0) | (weight == 1.0)).all():
                break
            error2 = _error2(x, y, unit, weight)
            mu *= self.growth
        likely = weight >= 0.5
        return likely if _determine_slope(x[likely]) else weight > 0.0


def _determine_slope(x: FloatArray) -> bool:
    return x.size > 1 and bool(np.ptp(x) > 1e-9 * np.abs(x).max())  # nine digits: see `Samples.flat`


def _error2(x: FloatArray, y: FloatArray, unit: FloatArray, weight: FloatArray) -> FloatArray:
    """(K,) squared relative errors around the line that weighted least squares gives."""
    line = least_squares(x, y, weight / unit**2, weight > 0.0)
    return np.asarray(((y - line(x)) / unit) ** 2)

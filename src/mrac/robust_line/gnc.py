"""Graduated non-convexity for a line: truncated least squares, reached through a series of easier problems.

Yang, Antonante, Tzoumas, Carlone, "Graduated Non-Convexity for Robust Spatial Perception" (RA-L 2020), GNC-TLS.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.fit.ols import least_squares
from mrac.options import check_numbers

_MAX_ROUNDS: Final = 1000  # of a schedule that needs 7 per factor of ten between the largest residual and the threshold


@dataclass(frozen=True, kw_only=True)
class GncOptions:
    """What the GNC gate and the GNC fit both ask for.

    Attributes:
        threshold: the largest relative error of a right reading. A line through a network's field is a tenth off.
        growth: by which the problem is made harder from round to round; 1.4 is the authors'.
    """

    threshold: float = 0.2
    growth: float = 1.4

    def __post_init__(self) -> None:
        check_numbers(self, 1e-9, 1e9, only=("threshold",))
        check_numbers(self, 1.001, 1e3, only=("growth",))


def inliers(x: FloatArray, y: FloatArray, unit: FloatArray, options: GncOptions) -> BoolArray:
    """Which of K points truncated least squares builds on.

    It starts from least squares, without a draw: the same points give the same answer, and no line is tried that most
    of them do not bear. Many outliers on one side move that start too far to come back from.

    Args:
        x: (K,), K >= 3, not all equal.
        y: (K,).
        unit: (K,) > 0, what residuals are divided by; its median, where it is less.
        options: of the method.

    Returns:
        (K,) bool with at least two True at different x.
    """
    # While all are still believed, a reading that is far too near must not weigh most for being the surest by its unit.
    unit = np.maximum(unit, np.median(unit))
    c2 = options.threshold**2
    weight = np.ones(x.size)
    error2 = _error2(x, y, unit, weight)
    if 2.0 * error2.max() <= c2:
        return np.ones(x.size, np.bool_)
    mu = c2 / (2.0 * error2.max() - c2)
    for _ in range(_MAX_ROUNDS):
        with np.errstate(divide="ignore"):
            doubtful = np.sqrt(c2 * mu * (mu + 1.0) / error2) - mu
        new = np.clip(doubtful, 0.0, 1.0)  # 1 below μ/(μ+1)·c², 0 above (μ+1)/μ·c²: the formula's own limits
        if not _tell_a_slope(x[new > 0.0]):
            break  # the last line stands
        weight = new
        if ((weight == 0.0) | (weight == 1.0)).all():
            break
        error2 = _error2(x, y, unit, weight)
        mu *= options.growth
    sure = weight >= 0.5
    return sure if _tell_a_slope(x[sure]) else weight > 0.0


def _tell_a_slope(x: FloatArray) -> bool:
    return x.size > 1 and bool(np.ptp(x) > 1e-9 * np.abs(x).max())  # nine digits: see `Samples.flat`


def _error2(x: FloatArray, y: FloatArray, unit: FloatArray, weight: FloatArray) -> FloatArray:
    """(K,) squared relative errors around the line that weighted least squares gives."""
    line = least_squares(x, y, weight / unit**2, weight > 0.0)
    return np.asarray(((y - line(x)) / unit) ** 2)

"""Shared by the slope estimators: the median of slopes, and a test for overflow."""

import numpy as np

from mrac.conventions import FloatArray
from mrac.robust_line.select import order_statistics_in_place
from mrac.runtime.jit import kernel

_HALF_RANGE = 2.0**1022


@kernel
def mean_slope(low: float, high: float) -> float:
    """Returns the mean of the two middle slopes, which are the same one for an odd number of slopes.

    Where numpy's (low + high) / 2 overflows between two finite slopes, the mean is still finite; between -inf and +inf
    it is 0, so that NaN keeps its one meaning.
    """
    mean = (low + high) / 2.0
    if np.isfinite(mean) or low == high:
        return low if low == high else mean
    return 0.0 if low == -high else 0.5 * low + 0.5 * high


@kernel
def median_slope_in_place(slopes: FloatArray, count: int) -> float:
    """Returns the median of the `count` least of `slopes`, NaN where `count` is 0, and destroys `slopes`."""
    if count == 0:
        return np.nan
    low, high = order_statistics_in_place(slopes, (count - 1) // 2, count // 2)
    return mean_slope(low, high)


@kernel
def differences_may_overflow(x: FloatArray, y: FloatArray) -> bool:
    """Says whether a difference of two x or of two y could overflow; a quarter of all x and y has the same slopes.

    Args:
        x: (K,) abscissae, finite.
        y: (K,) ordinates, finite.
    """
    huge = 0
    for k in range(x.size):
        huge += (abs(x[k]) > _HALF_RANGE) | (abs(y[k]) > _HALF_RANGE)
    return huge > 0

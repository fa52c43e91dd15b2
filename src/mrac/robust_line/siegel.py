"""Siegel's repeated median slope: the median over points of the median slope from each; breakdown point one half."""

import numpy as np

from mrac.conventions import FloatArray
from mrac.robust_line.slopes import differences_may_overflow, median_slope_in_place
from mrac.runtime.jit import kernel


@kernel
def _median_slope_from(x: FloatArray, y: FloatArray, i: int, slopes: FloatArray) -> float:
    """Returns the median slope from point `i` to all points of another x, NaN where there is none.

    Pairs of equal x, the point with itself among them, count as +inf and are left out by rank: so the loop
    vectorises.
    """
    x_i = x[i]
    y_i = y[i]
    equal = 0
    for j in range(x.size):
        run = x[j] - x_i
        slope = np.divide(y[j] - y_i, run)  # `/` would raise on 0
        slopes[j] = slope if run != 0.0 else np.inf
        equal += run == 0.0
    return median_slope_in_place(slopes, x.size - equal)


@kernel
def siegel_slope(x: FloatArray, y: FloatArray) -> float:
    """Returns the repeated median: median over i of the median over j, x_j != x_i, of (y_i - y_j) / (x_i - x_j).

    O(K**2) time, O(K) memory. The slope of `scipy.stats.siegelslopes` bit for bit (its `method` changes the
    intercept only), with these differences: scipy holds K x K matrices; it computes in float32 where both
    inputs are float32; it warns and returns NaN where differences overflow, where +inf and -inf are the two
    middle slopes (here 0), and where no two x differ (here NaN without a warning).

    Args:
        x: (K,) abscissae, finite; C-contiguous for speed.
        y: (K,) ordinates, finite; C-contiguous for speed.

    Returns:
        The slope [y per x]; NaN exactly where no two x differ. It may be infinite where slopes overflow.
    """
    if differences_may_overflow(x, y):
        x, y = 0.25 * x, 0.25 * y
    size = x.size
    slopes = np.empty(size)
    medians = np.empty(size)
    for i in range(size):
        medians[i] = _median_slope_from(x, y, i, slopes)
        if np.isnan(medians[i]):
            return np.nan
    return median_slope_in_place(medians, size)

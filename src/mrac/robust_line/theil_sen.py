"""The Theil-Sen line: the median slope over all pairs of points, exact for every number of them.

Few points: all slopes at once, then a selection. Many: `slope_selection`, which never holds more than O(K) of
them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.robust_line.select import median_in_place
from mrac.robust_line.slope_selection import slope_by_inversion_counting
from mrac.robust_line.slopes import differences_may_overflow, median_slope_in_place
from mrac.runtime.jit import kernel

__all__ = [
    "ALL_PAIRS_UPTO",
    "FITTED",
    "MAD_TO_SIGMA",
    "NOT_FINITE",
    "NO_DISTINCT_X",
    "TheilSenLine",
    "mad_test",
    "slope_by_all_pairs",
    "slope_by_inversion_counting",
    "theil_sen_line",
    "theil_sen_mad",
    "theil_sen_slope",
]

ALL_PAIRS_UPTO = 360
"""Number of points up to which all slopes are computed; measured: at 360 either way takes some 0.08 ms."""

FITTED = 0
"""Outcome of a fit: slope and intercept are finite."""

NO_DISTINCT_X = 1
"""Outcome of a fit: no two x differ, so the slope was set to 0."""

NOT_FINITE = 2
"""Outcome of a fit: an x or y is not finite, or the slope or a residual beyond float64; no point is kept."""

MAD_TO_SIGMA = 1.4826  # 1 / Phi^-1(3/4): makes the median absolute deviation consistent for normal errors
ROUNDING = 8.0 * 2.0**-52


class TheilSenLine(NamedTuple):
    """The line y = slope * x + intercept.

    Attributes:
        slope: median slope [y per x]; NaN where no two x differ.
        intercept: median of y - slope * x [y]; median of y where no two x differ.
    """

    slope: float
    intercept: float


@kernel
def _fill_slopes(x: FloatArray, y: FloatArray, slopes: FloatArray) -> int:
    """Writes the slopes of all pairs to `slopes`, +inf for those of equal x, and returns the number of the latter.

    +inf sorts them to the end, beyond every rank that is asked for; leaving them out would need a conditional store
    per pair, and the loop would not be vectorised. The loop over a row is written out here: a call per row would cost
    15 % at K = 50.
    """
    equal = 0
    start = 0
    for i in range(x.size - 1):
        x_i = x[i]
        y_i = y[i]
        x_after = x[i + 1 :]
        y_after = y[i + 1 :]
        row = slopes[start : start + x_after.size]
        for j in range(row.size):
            run = x_after[j] - x_i
            slope = np.divide(y_after[j] - y_i, run)  # `/` would raise on 0
            row[j] = slope if run != 0.0 else np.inf
            equal += run == 0.0
        start += row.size
    return equal


@kernel
def slope_by_all_pairs(x: FloatArray, y: FloatArray) -> float:
    """Returns the median slope over all pairs of distinct x by computing them all, in O(K**2) time and memory.

    Args:
        x: (K,) abscissae, finite; their differences must not overflow.
        y: (K,) ordinates, finite; likewise.

    Returns:
        The median slope [y per x], bit for bit that of `np.median` where that is finite (see `mean_slope`);
        NaN where no two x differ.
    """
    slopes = np.empty(x.size * (x.size - 1) // 2)
    return median_slope_in_place(slopes, slopes.size - _fill_slopes(x, y, slopes))


@kernel
def _slope_of_few(x: FloatArray, y: FloatArray) -> float:
    if differences_may_overflow(x, y):
        x, y = 0.25 * x, 0.25 * y
    return slope_by_all_pairs(x, y)


@kernel
def _slope_of_many(x: FloatArray, y: FloatArray) -> float:
    if differences_may_overflow(x, y):
        x, y = 0.25 * x, 0.25 * y
    return slope_by_inversion_counting(x, y)


def theil_sen_slope(x: FloatArray, y: FloatArray) -> float:
    """Returns the median over all pairs i < j with x_i != x_j of (y_i - y_j) / (x_i - x_j).

    Few and many points are two kernels, chosen here and not inside one: the second takes ten seconds to compile, which
    is only needed for many points.

    Args:
        x: (K,) abscissae, finite; C-contiguous for speed.
        y: (K,) ordinates, finite; C-contiguous for speed.

    Returns:
        The median slope [y per x]; NaN exactly where no two x differ. It may be infinite where slopes overflow.
    """
    return _slope_of_few(x, y) if x.size <= ALL_PAIRS_UPTO else _slope_of_many(x, y)


@kernel
def _median_offset(x: FloatArray, y: FloatArray, slope: float, scratch: FloatArray) -> float:
    """Returns the median of y - slope * x; overwrites `scratch` (K,)."""
    for k in range(x.size):
        scratch[k] = y[k] - slope * x[k]
    return median_in_place(scratch)


@kernel
def _intercept(x: FloatArray, y: FloatArray, slope: float) -> float:
    """Returns the median of y - slope * x, of y alone where the slope is NaN, and NaN where it is infinite."""
    if np.isinf(slope):
        return np.nan
    return _median_offset(x, y, 0.0 if np.isnan(slope) else slope, np.empty(x.size))


def theil_sen_line(x: FloatArray, y: FloatArray) -> TheilSenLine:
    """Fits the Theil-Sen line.

    Args:
        x: (K,) abscissae, finite; C-contiguous for speed.
        y: (K,) ordinates, finite; C-contiguous for speed.

    Returns:
        The line; its intercept is NaN where the slope is infinite, or where K is 0.
    """
    slope = theil_sen_slope(x, y)
    return TheilSenLine(slope, _intercept(x, y, slope))


@kernel
def _largest_term(x: FloatArray, y: FloatArray, slope: float, intercept: float) -> float:
    """Returns the largest |y| + |slope * x| + |intercept| [y]: what the rounding of a residual is relative to."""
    largest = 0.0
    for k in range(x.size):
        term = abs(y[k]) + abs(slope * x[k])
        largest = term if term > largest else largest
    return largest + abs(intercept)


@kernel
def _spread(residuals: FloatArray, scratch: FloatArray) -> float:
    """Returns 1.4826 times the median absolute deviation of `residuals` from their median; overwrites `scratch`."""
    for k in range(residuals.size):
        scratch[k] = residuals[k]
    centre = median_in_place(scratch)
    for k in range(residuals.size):
        scratch[k] = abs(residuals[k] - centre)
    return MAD_TO_SIGMA * median_in_place(scratch)


_Verdict = tuple[float, float, float, FloatArray, NDArray[np.bool_], int]


@kernel
def _all_finite(x: FloatArray, y: FloatArray) -> bool:
    bad = 0
    for k in range(x.size):
        bad += not (np.isfinite(x[k]) & np.isfinite(y[k]))
    return bad == 0


@kernel
def mad_test(x: FloatArray, y: FloatArray, kappa: float, slope: float) -> _Verdict:
    """Tests the distance of every point from the line of `slope`; see `theil_sen_mad`."""
    residuals = np.empty(x.size)
    keep = np.empty(x.size, np.bool_)
    scratch = np.empty(x.size)
    outcome = FITTED
    if np.isnan(slope):
        slope = 0.0
        outcome = NO_DISTINCT_X
    intercept = np.nan if np.isinf(slope) else _median_offset(x, y, slope, scratch)
    largest = _largest_term(x, y, slope, intercept)
    if x.size > 0 and not np.isfinite(largest):
        for k in range(x.size):
            residuals[k] = np.nan
            keep[k] = False
        return slope, np.nan, np.nan, residuals, keep, NOT_FINITE
    for k in range(x.size):
        residuals[k] = y[k] - (slope * x[k] + intercept)
    sigma = _spread(residuals, scratch)
    bound = kappa * sigma + ROUNDING * largest
    for k in range(x.size):
        keep[k] = abs(residuals[k]) <= bound
    return slope, intercept, sigma, residuals, keep, outcome


@kernel
def _mad_of_few(x: FloatArray, y: FloatArray, kappa: float) -> _Verdict:
    return mad_test(x, y, kappa, _slope_of_few(x, y) if _all_finite(x, y) else np.inf)


@kernel
def _mad_of_many(x: FloatArray, y: FloatArray, kappa: float) -> _Verdict:
    return mad_test(x, y, kappa, _slope_of_many(x, y) if _all_finite(x, y) else np.inf)


def theil_sen_mad(x: FloatArray, y: FloatArray, kappa: float) -> _Verdict:
    """Fits the Theil-Sen line and keeps the points within `kappa` robust standard deviations of it.

    One call for the whole fit, so that the overhead of a call from Python into compiled code occurs once.

    Args:
        x: (K,) abscissae; C-contiguous for speed.
        y: (K,) ordinates; C-contiguous for speed.
        kappa: number of standard deviations, >= 0.

    Returns:
        (slope, intercept, sigma, residuals, keep, outcome):
        slope: median slope [y per x], 0 where no two x differ.
        intercept: median of y - slope * x [y].
        sigma: 1.4826 * median |r - median(r)| [y].
        residuals: (K,) r = y - (slope * x + intercept) [y].
        keep: (K,) |r| <= kappa * sigma + floor. The floor, 8 eps times the largest |y| + |slope * x| + |intercept|,
            only allows for rounding: points exactly on a line must not be rejected for their last bit.
        outcome: `FITTED`, `NO_DISTINCT_X` (also for K = 0), or `NOT_FINITE` (an x or a y is not, or the line through
            them): nothing is kept, and intercept, sigma and residuals are NaN.
    """
    return _mad_of_few(x, y, kappa) if x.size <= ALL_PAIRS_UPTO else _mad_of_many(x, y, kappa)

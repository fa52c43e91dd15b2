"""The line with the least sum of truncated absolute errors, exactly (the alignment of MoGe, Wang et al. 2025).

Such a line passes through one of the points. With that point as the pivot the sum depends on the slope alone, piecewise
linearly, and its minima are at slopes through another point; they are found from the sorted breakpoints.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.runtime.jit import kernel

MAX_PIVOTS: Final = 512
"""Of more points that many are pivots, evenly spaced in the order given: else the time would grow with K²."""


def truncated_l1_line(
    x: FloatArray, y: FloatArray, weight: FloatArray, limit: float, rising: bool
) -> tuple[float, float, float]:
    """Slope and intercept with the least Σ min(limit, weight · |y − line|), and that sum.

    Args:
        x: (K,), not all equal.
        y: (K,).
        weight: (K,) > 0.
        limit: > 0; may be infinite.
        rising: whether a slope <= 0 is used only if no local minimum has a slope > 0.
    """
    pivots = np.unique(np.linspace(0, x.size - 1, min(x.size, MAX_PIVOTS)).astype(np.int64))
    slope, pivot, cost = _search(x, y, weight, limit, pivots, rising)
    if pivot < 0:
        slope, pivot, cost = _search(x, y, weight, limit, pivots, False)
    return slope, float(y[pivot] - slope * x[pivot]), cost


@kernel
def _search(
    x: FloatArray, y: FloatArray, weight: FloatArray, limit: float, pivots: NDArray[np.int64], rising: bool
) -> tuple[float, int, float]:
    """The best slope, its pivot (-1 if there is no candidate slope) and the sum."""
    best_cost, best_slope, best_pivot = np.inf, 0.0, -1
    for pivot in pivots:
        slopes = _local_minima(x - x[pivot], y - y[pivot], weight, limit)
        for slope in slopes:
            if rising and slope <= 0.0:
                continue
            cost = 0.0
            for k in range(x.size):
                if cost >= best_cost:
                    break
                cost += min(limit, weight[k] * abs(y[k] - y[pivot] - slope * (x[k] - x[pivot])))
            if cost < best_cost:
                best_cost, best_slope, best_pivot = cost, slope, pivot
    return best_slope, best_pivot, best_cost


@kernel
def _local_minima(dx: FloatArray, dy: FloatArray, weight: FloatArray, limit: float) -> FloatArray:
    """The slopes at which Σ min(limit, weight · |dy − slope · dx|) has a local minimum."""
    moving = dx != 0.0
    sign = np.sign(dx[moving])
    run, rise, w = dx[moving] * sign, dy[moving] * sign, weight[moving]
    n = run.size
    pull = w * run
    met = rise / run
    reach = limit / pull
    # The derivative jumps by 2·pull where the line meets a point, and by -pull where that point's error is truncated.
    at = np.concatenate((met, met - reach, met + reach))
    jump = np.concatenate((2.0 * pull, -pull, -pull))
    order = np.argsort(at)
    minima = np.empty(n)
    # Rounding in the sums may hide a tie; one candidate too many costs an evaluation, one too few the minimum.
    slack = 1e-9 * pull.sum()
    count, derivative, i = 0, 0.0, 0
    if limit == np.inf:  # then no error is truncated: at slope -inf the derivative is that of all points
        derivative = -pull.sum()
        order = order[at[order] > -np.inf]
    while i < order.size:
        here, before, met_here = at[order[i]], derivative, False
        # Breakpoints that coincide are one. So are those at NaN, the last: of points with all but the pivot's x.
        while i < order.size and not at[order[i]] > here:
            derivative += jump[order[i]]
            met_here |= order[i] < n
            i += 1
        if met_here and before <= slack and derivative >= -slack:
            minima[count] = here
            count += 1
    return minima[:count]

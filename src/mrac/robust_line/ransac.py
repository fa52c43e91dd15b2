"""RANSAC for a line: the largest set of points within a threshold of the line through two of them."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.registry import check_numbers
from mrac.robust_line.pairs import pairs
from mrac.runtime.jit import kernel


@dataclass(frozen=True, kw_only=True)
class RansacOptions:
    """Options of the RANSAC gate and the RANSAC fit.

    Attributes:
        threshold: largest residual of an inlier, in units of y; 0 takes the stage's own rule.
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


@kernel
def inlier_set(x: FloatArray, y: FloatArray, threshold: float, trials: int, seed: int) -> BoolArray:
    """The inlier set of the line with the most inliers; of equal ones, of the line with the least sum of residuals.

    Args:
        x: (K,), K >= 2, not all equal.
        y: (K,).
        threshold: largest |y − line| of an inlier.
        trials: random pairs to try; where K has no more pairs than that, all are tried and the seed is not used.
        seed: of the draw.

    Returns:
        (K,) bool with at least two True at different x.
    """
    K = x.size
    best_support, best_cost, best_slope, best_intercept = 0, 0.0, 0.0, 0.0
    for i, j in pairs(K, trials, seed):
        if x[i] == x[j]:
            continue
        slope = (y[i] - y[j]) / (x[i] - x[j])
        intercept = y[i] - slope * x[i]
        support, cost = 0, 0.0
        for k in range(K):
            r = abs(y[k] - (slope * x[k] + intercept))
            if r <= threshold:
                support += 1
                cost += r
        if support > best_support or (support == best_support and cost < best_cost):
            best_support, best_cost, best_slope, best_intercept = support, cost, slope, intercept
    inlier = np.abs(y - (best_slope * x + best_intercept)) <= threshold
    # A zero threshold, or draws of equal x only, can leave fewer points than a line needs: then all are inliers.
    some = x[inlier]
    if some.size < 2 or some.min() == some.max():
        inlier[:] = True
    return inlier

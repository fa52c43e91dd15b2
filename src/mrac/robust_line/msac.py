"""MSAC for a line (Torr and Zisserman 2000): RANSAC with a truncated squared error as its cost."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.registry import check_numbers
from mrac.robust_line.pairs import pairs
from mrac.robust_line.relative_error import InlierSelection
from mrac.runtime.jit import kernel


@dataclass(frozen=True, kw_only=True)
class MsacOptions(InlierSelection):
    """Options of the MSAC gate and the MSAC fit, beside those of `InlierSelection`.

    Attributes:
        trials: pairs drawn; all pairs are tried where there are no more than that, so up to 63 anchors.
        seed: of the draw.
    """

    trials: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        check_numbers(self, 1e-9, 1e9, only=("threshold",))
        check_numbers(self, 1, 1e7, only=("trials",))
        check_numbers(self, 0, 2**32 - 1, only=("seed",))

    def inlier_set(self, x: FloatArray, y: FloatArray, unit: FloatArray) -> BoolArray:
        """The points within the threshold of the pair's line with the least truncated squared error."""
        slope, intercept = _least_truncated(x, y, unit, self.threshold, self.trials, self.seed)
        near = np.abs(y - (slope * x + intercept)) <= self.threshold * unit
        # Draws of equal x only give no line: then all are inliers.
        return near if near.any() and np.ptp(x[near]) > 0.0 else np.ones(x.size, np.bool_)


@kernel
def _least_truncated(
    x: FloatArray, y: FloatArray, unit: FloatArray, threshold: float, trials: int, seed: int
) -> tuple[float, float]:
    K = x.size
    best_cost, best_slope, best_intercept = np.inf, np.nan, np.nan
    for i, j in pairs(K, trials, seed):
        if x[i] == x[j]:
            continue
        slope = (y[i] - y[j]) / (x[i] - x[j])
        intercept = y[i] - slope * x[i]
        cost = 0.0
        for k in range(K):
            r = min(abs(y[k] - (slope * x[k] + intercept)) / unit[k], threshold)
            cost += r * r
        if cost < best_cost:
            best_cost, best_slope, best_intercept = cost, slope, intercept
    return best_slope, best_intercept

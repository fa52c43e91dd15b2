"""Readings that are means over an area, in the Gaussian process: each observes the mean of the process over its area.

A reading z of an area is the mean of exp(t + g) over it, t the trend of log depth and g the process. To first order in
g its logarithm is ln mean exp(t) + Σ s_p g(p), with shares s_p in proportion to exp(t(p)): a linear observation of the
process. Sums run over a few points of the area.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from mrac.conventions import BoolArray, FloatArray
from mrac.gp.kernel import BIAS_VAR, covariance
from mrac.gp.posterior import Posterior
from mrac.relative import in_reach

# Points along each side of an area. On training frames with networks that had not seen them, 5 had 1 to 3 % less error
# than 3, for twice the time of the head.
_MAX_SIDE: Final = 5
_MAX_POINTS: Final = 1600  # in all, as of 8 × 8 zones: the time grows with their number, the memory with its square


class AreaPoints(NamedTuple):
    """The points that stand for K readings, those of one reading together: one of a point, several of an area.

    Attributes:
        uv_px: (M, 2) positions.
        start: (K,) the first point of each reading.
    """

    uv_px: FloatArray
    start: NDArray[np.intp]

    def means(self, log_trend: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(K,) log of the mean of depth over each area, and (M,) the share of each point in it, from (M,) log depth."""
        num = np.diff(self.start, append=len(self.uv_px))
        seen = np.concatenate([in_reach(each) for each in np.split(log_trend, self.start[1:])])
        depth = np.where(seen, np.exp(log_trend.astype(np.float64)), 0.0)
        total = np.add.reduceat(depth, self.start)
        return np.log(total / np.add.reduceat(seen, self.start, dtype=np.intp)), depth / np.repeat(total, num)


def area_points(uv_px: FloatArray, extent_px: FloatArray, shape: tuple[int, int]) -> AreaPoints:
    """Points spread evenly over the part of each area that is in the image.

    Args:
        uv_px: (K, 2) centres, inside the image.
        extent_px: (K, 2) width and height; 0 for a point.
        shape: (H, W) of the image.
    """
    top = np.array([shape[1], shape[0]]) - 0.5
    low, high = np.maximum(uv_px - 0.5 * extent_px, -0.5), np.minimum(uv_px + 0.5 * extent_px, top)
    is_area: BoolArray = np.asarray((extent_px > 0.0).any(axis=1))
    side = min(max(math.isqrt(_MAX_POINTS // max(int(is_area.sum()), 1)), 1), _MAX_SIDE)
    num = np.where(is_area, side * side, 1)
    start = np.cumsum(num) - num
    owner = np.repeat(np.arange(len(num)), num)
    row, column = np.divmod(np.arange(owner.size) - start[owner], side)
    at = (np.stack([column, row], axis=1) + 0.5) / side
    inside = low[owner] + at * (high - low)[owner]
    return AreaPoints(np.where(is_area[owner, None], inside, uv_px[owner]), start)


def area_posterior(
    features: NDArray[np.float32], points: AreaPoints, share: FloatArray, noise_var: FloatArray, residuals: FloatArray
) -> tuple[Posterior, float]:
    """Conditions the process on K means over areas; see `mrac.gp.posterior.posterior`.

    Args:
        features: (M, NUM_FEATURES) of the points.
        points: M of them.
        share: (M,) of each in its reading.
        noise_var: (K,) in units of the amplitude's square.
        residuals: (K,).

    Returns:
        The posterior over the M points, with a whitener of K or K + 1 rows, and the squared Mahalanobis length.
    """
    K = len(residuals)
    between = (covariance(features.astype(np.float64)) + BIAS_VAR) * np.outer(share, share)
    means = np.add.reduceat(np.add.reduceat(between, points.start, axis=0), points.start, axis=1)
    lower = np.linalg.cholesky(means + np.diag(noise_var))
    white = solve_triangular(lower, residuals, lower=True)
    weights = solve_triangular(lower, white, lower=True, trans="T")
    owner = np.repeat(np.arange(K), np.diff(points.start, append=len(share)))
    whitener = np.zeros((K + K % 2, len(share)))
    whitener[:K] = solve_triangular(lower, np.eye(K), lower=True)[:, owner] * share
    of_points = (weights[owner] * share).astype(np.float32)
    return Posterior(features, of_points, whitener.astype(np.float32)), float(white @ white)

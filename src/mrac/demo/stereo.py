"""Disparity by block matching: a relative depth field that needs no network and no camera calibration.

Disparity is affine in inverse depth (d = f·b / z − offset), so a pair whose focal length, baseline and offset nobody
wrote down is exactly what `RelativeDepth(space="inverse_depth")` means.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mrac.conventions import FloatArray, ImageArray

_WINDOW = 17  # pixels; wider blurs the wheels, narrower loses the floor
_MAX_COST = 20.0  # grey levels: a mismatch beyond this says "different surface", however large it is


def disparity(left: ImageArray, right: ImageArray, max_disparity: int) -> FloatArray:
    """Horizontal disparity of the left image, (H, W) float32 in pixels, NaN where both directions disagree.

    Args:
        left: (H, W, 3) uint8, rectified.
        right: (H, W, 3) uint8, rectified.
        max_disparity: the largest tried, in pixels.
    """
    costs = _costs(left, right, max_disparity)
    best = costs.argmin(axis=0)
    shift = np.arange(max_disparity + 1)[:, None, None]
    u = np.arange(left.shape[1])
    # The right image's view of the same costs: pixel u there meets pixel u + d here.
    seen = np.minimum(u + shift, left.shape[1] - 1)
    back = np.take_along_axis(costs, np.broadcast_to(seen, costs.shape), axis=2).argmin(axis=0)
    returned = np.take_along_axis(back, np.maximum(u - best, 0), axis=1)
    found = ndimage.median_filter(_refine(costs, best), size=5)
    return np.where(np.abs(best - returned) <= 1, found, np.nan).astype(np.float32)


def _costs(left: ImageArray, right: ImageArray, max_disparity: int) -> FloatArray:
    """(D, H, W) truncated absolute differences, summed over a window."""
    a, b = left.astype(np.float32), right.astype(np.float32)
    costs = np.full((max_disparity + 1, *left.shape[:2]), _MAX_COST, np.float32)
    for d in range(max_disparity + 1):
        difference = np.abs(a[:, d:] - b[:, : b.shape[1] - d]).mean(axis=2)
        costs[d, :, d:] = ndimage.uniform_filter(np.minimum(difference, _MAX_COST), _WINDOW)
    return costs


def _refine(costs: FloatArray, best: NDArray[np.intp]) -> FloatArray:
    """Sub-pixel position of the minimum by a parabola through three costs."""
    middle = np.clip(best, 1, costs.shape[0] - 2)
    below, at, above = (np.take_along_axis(costs, (middle + k)[None], axis=0)[0] for k in (-1, 0, 1))
    curvature = np.maximum(below - 2.0 * at + above, 1e-6)
    return np.asarray(middle + np.clip((below - above) / (2.0 * curvature), -0.5, 0.5))

"""A stereo camera's readings of a frame whose depth is known: wrong where, and as, real matching is wrong."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.lab.train.synthetic.stereo.matching import Matcher
from mrac.lab.train.synthetic.stereo.second_view import disturbed_pair
from mrac.runtime.jit import kernel

_SIDE_PX: Final = 300  # of the picture that is matched, about: larger ones are halved, or more
_MOST_PX: Final = 90.0  # the largest disparity
_MOST_OF_WIDTH: Final = 0.22  # the same, in widths: so much of one side is lost
_FAR_PX: Final = (4.0, 20.0)  # disparity of what is farther than 95 % of the picture
_SAME: Final = 0.06  # relative difference of depths that may be of one surface
_LEAST_PX: Final = 0.3  # a disparity below this one is that
_NEAREST_M: Final = 0.05
_BEYOND: Final = 1.2  # how far readings may lie, in ranges of the sensor
_GREY: Final = np.array([0.299, 0.587, 0.114], np.float32)


def stereo_scan(image: ImageArray, depth_m: FloatArray, rng: np.random.Generator, max_range_m: float) -> FloatArray:
    """Matches the image with a second view made from its depth.

    The picture is matched at a reduced size if it is large, at every s-th row and column, and readings are at those
    pixels alone. The strip along one side that the second camera does not see has none; the side is drawn too.

    Args:
        image: (H, W, 3) uint8.
        depth_m: (H, W) dense, greater than zero.
        rng: of the baseline, the cameras, the matcher: the same gives the same readings.
        max_range_m: of the sensor; readings go to 1.2 times as far.

    Returns:
        (H, W) float64 metres, 0 where there is no reading.

    Raises:
        ContractError: image and depth differ in size, or depth is not dense and positive.
    """
    H, W = depth_m.shape
    if image.shape != (H, W, 3) or not (np.isfinite(depth_m) & (depth_m > 0.0)).all():
        raise ContractError(
            f"stereo/readings: an image of {image.shape} with a depth of {depth_m.shape}; (H, W, 3) and (H, W) needed, "
            "depth finite and > 0 everywhere. Complete the depth first."
        )
    step = max(1, round(min(H, W) / _SIDE_PX))
    grey = ndimage.gaussian_filter(image.astype(np.float32) @ _GREY, 0.35 * step if step > 1 else 0.0)[::step, ::step]
    depth = _without_terraces(np.ascontiguousarray(depth_m[::step, ::step], np.float32))
    side = -1 if rng.random() < 0.5 else 1
    far = _far(np.minimum(depth, max_range_m), rng)
    disparity = _matched(grey[:, ::side], far / depth[:, ::side], rng)[:, ::side]
    out = np.zeros((H, W))
    z_m = np.clip(far / np.maximum(disparity, _LEAST_PX), _NEAREST_M, _BEYOND * max_range_m)
    out[::step, ::step] = np.nan_to_num(z_m, nan=0.0)
    return out


def _far(depth_m: FloatArray, rng: np.random.Generator) -> float:
    """Metres times pixels: focal length times baseline."""
    near, away = (float(q) for q in np.quantile(depth_m, (0.02, 0.95)))
    most = min(_MOST_PX, _MOST_OF_WIDTH * depth_m.shape[1])
    return float(min(away * rng.uniform(*_FAR_PX), near * most * rng.uniform(0.6, 1.0)))


def _matched(grey: FloatArray, disparity_px: FloatArray, rng: np.random.Generator) -> FloatArray:
    """(H, W) disparities as a matcher of any settings finds them, NaN where it finds none."""
    left, right = disturbed_pair(grey, disparity_px, rng)
    small = np.exp(rng.uniform(np.log(4.0), np.log(16.0)))
    # What is nearer than the matcher can tell is read wrong, as by a real one.
    most = min(float(disparity_px.max()), _MOST_PX, _MOST_OF_WIDTH * grey.shape[1])
    matcher = Matcher(
        num_disparities=int(np.ceil(most)) + int(rng.integers(2, 9)),
        window_px=int(rng.choice([3, 5, 5, 7, 7, 9, 11])),
        small_penalty=small,
        large_penalty=small * rng.uniform(2.5, 6.0),
        cap=float(rng.choice([15.0, 31.0, 63.0, 63.0])),
    )
    found = matcher(left, right)
    per_px = float(rng.choice([4.0, 8.0, 16.0]))  # matchers give fractions of a pixel in steps
    return np.asarray(np.round(found * per_px) / per_px, np.float64)


@kernel
def _without_terraces(depth_m: NDArray[np.float32]) -> NDArray[np.float32]:
    """(H, W) means over those of 7 × 7 neighbours that may be of the same surface.

    Depth of 8 bits has steps, which would be seen as edges of the second view.
    """
    H, W = depth_m.shape
    out = np.empty((H, W), np.float32)
    for v in range(H):
        for u in range(W):
            middle = depth_m[v, u]
            total, num = 0.0, 0
            for i in range(max(v - 3, 0), min(v + 4, H)):
                for j in range(max(u - 3, 0), min(u + 4, W)):
                    if abs(depth_m[i, j] - middle) < _SAME * middle:
                        total += depth_m[i, j]
                        num += 1
            out[v, u] = total / num
    return out

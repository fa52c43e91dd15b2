"""Separable bilinear and bicubic resampling of an image, one axis at a time: no float copy of a huge image is made."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray


@dataclass(frozen=True, eq=False)
class Taps:
    """Interpolation weights along one axis: for each of n output positions the k input pixels and their weights.

    Attributes:
        index: (n, k) input pixels.
        weight: (n, k) float32, each row summing to 1.
    """

    index: NDArray[np.intp]
    weight: FloatArray

    def reflected(self, size: int, pad: int) -> "Taps":
        """The same taps for an axis of `size` pixels that is padded by reflection, `pad` pixels at both ends."""
        return Taps(np.pad(np.arange(size), pad, mode="reflect")[self.index], self.weight)


def linear_taps(size: int, count: int, *, align_corners: bool) -> Taps:
    """Linear interpolation of `size` pixels at `count` positions, without antialiasing; positions as in torch."""
    if align_corners:
        position = np.linspace(0.0, size - 1.0, count) if count > 1 else np.zeros(1)
    else:
        position = np.clip((np.arange(count) + 0.5) * size / count - 0.5, 0.0, size - 1.0)
    low = np.minimum(position.astype(np.intp), max(size - 2, 0))
    high = np.minimum(low + 1, size - 1)
    part = position - low
    return Taps(np.stack([low, high], axis=1), np.stack([1.0 - part, part], axis=1).astype(np.float32))


def cubic_taps(size: int, count: int) -> Taps:
    """Cubic interpolation without antialiasing, the edge repeated: OpenCV's INTER_CUBIC, which is also torch's."""
    a = -0.75
    position = (np.arange(count) + 0.5) * size / count - 0.5
    low = np.floor(position).astype(np.intp)
    t = (position - low)[:, None] - np.arange(-1, 3)  # signed distance to the four neighbours
    d = np.abs(t)
    near = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
    far = ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
    weight = np.where(d <= 1.0, near, np.where(d < 2.0, far, 0.0)).astype(np.float32)
    return Taps(np.clip(low[:, None] + np.arange(-1, 3), 0, size - 1), weight)


def sample(values: NDArray[Any], rows: Taps, columns: Taps) -> FloatArray:
    """An (H, W, 3) image or an (H, W) map resampled at all pairs of rows and columns: (h, w, ...) float32.

    The largest intermediate array is (h, W, ...).
    """
    channels = (1,) * (values.ndim - 2)
    tall = np.zeros((rows.index.shape[0], *values.shape[1:]), np.float32)
    for k in range(rows.index.shape[1]):
        tall += values[rows.index[:, k]] * rows.weight[:, k].reshape(-1, 1, *channels)
    out = np.zeros((tall.shape[0], columns.index.shape[0], *values.shape[2:]), np.float32)
    for k in range(columns.index.shape[1]):
        out += tall[:, columns.index[:, k]] * columns.weight[:, k].reshape(1, -1, *channels)
    return out

"""Pillow's separable resampling as matrices: one product along each axis gives what `Image.resize` gives.

Of 8-bit images Pillow rounds the weights to multiples of 2⁻²² and the result of each axis to whole numbers. Such sums
are exact in double precision, so that the pixels are Pillow's, bit for bit.
"""

from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from mrac.conventions import FloatArray

Filter = Literal["box", "bilinear", "bicubic"]
_PRECISION: Final = float(1 << 22)


def _box(x: FloatArray) -> FloatArray:
    return ((x > -0.5) & (x <= 0.5)).astype(np.float64)


def _triangle(x: FloatArray) -> FloatArray:
    return np.maximum(1.0 - np.abs(x), 0.0)


def _cubic(x: FloatArray) -> FloatArray:
    a, d = -0.5, np.abs(x)
    near, far = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0, (((d - 5.0) * d + 8.0) * d - 4.0) * a
    return np.where(d < 1.0, near, np.where(d < 2.0, far, 0.0))


_FILTERS: Final[dict[Filter, tuple[Callable[[FloatArray], FloatArray], float]]] = {
    "box": (_box, 0.5),
    "bilinear": (_triangle, 1.0),
    "bicubic": (_cubic, 2.0),
}


def resize_matrix(size: int, count: int, name: Filter, *, of_bytes: bool = False) -> FloatArray:
    """(count, size) float64 weights that resample `size` pixels to `count`, antialiased, as Pillow does.

    Args:
        size: pixels of the input along this axis.
        count: of the output.
        name: of the filter.
        of_bytes: whether the image has 8 bits, so that the weights are rounded.
    """
    kernel, support = _FILTERS[name]
    scale = size / count
    stretch = max(scale, 1.0)
    reach = support * stretch
    weights = np.zeros((count, size))
    for i in range(count):
        centre = (i + 0.5) * scale
        first, last = max(int(centre - reach + 0.5), 0), min(int(centre + reach + 0.5), size)
        row = kernel((np.arange(first, last) - centre + 0.5) / stretch)
        weights[i, first:last] = row / row.sum()
    if of_bytes:
        weights = np.trunc(weights * _PRECISION + np.copysign(0.5, weights)) / _PRECISION
    return weights


def node_matrix(count: int, step: int, num_nodes: int) -> FloatArray:
    """(count, num_nodes) bilinear weights from nodes at every `step`th pixel; as `mrac.gp.upsampling`."""
    at = np.arange(count)
    first = np.minimum(at // step, num_nodes - 1)
    share = (at - first * step) / step
    weights = np.zeros((count, num_nodes))
    weights[at, first] += 1.0 - share
    weights[at, np.minimum(first + 1, num_nodes - 1)] += share
    return weights


def row_matrix(rows: FloatArray, height: int, num_cells: int) -> FloatArray:
    """(len(rows), num_cells) bilinear weights of the cells along an axis of `height` pixels, at the pixels `rows`."""
    at = np.clip((rows + 0.5) * (num_cells / height) - 0.5, 0.0, num_cells - 1.0)
    above = np.floor(at).astype(np.intp)
    weights = np.zeros((len(rows), num_cells))
    index = np.arange(len(rows))
    weights[index, above] += 1.0 - (at - above)
    weights[index, np.minimum(above + 1, num_cells - 1)] += at - above
    return weights

"""Images and fields resized as PIL does it, bit for bit: antialiased; images are rounded to 8 bits after each axis.

PIL and the copies around it take 5 ms for a network's input of a frame of 480×640, a third of what the 8-bit network
takes; this takes less than one. First across, then down: PIL 11 always did so, PIL 13 no longer does for tall strips,
beyond 4 : 1.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray, ImageArray
from mrac.runtime.jit import kernel
from mrac.runtime.parallel import for_each_span

_BITS: Final = 22  # of PIL's weights behind the point: the sum of 255 times each still fits into 32 bits
_ROWS: Final = 64  # worked on at a time; with 48 the compiler leaves its vector loop out: three times as long


class _Taps(NamedTuple):
    """How each of n pixels is made of those of another grid.

    Attributes:
        first: (n,) the first of those it is made of.
        num: (n,) how many they are.
        weight: (n, most) of each.
    """

    first: NDArray[np.int32]
    num: NDArray[np.int32]
    weight: FloatArray


def _cubic(x: FloatArray) -> FloatArray:
    near, far = (1.5 * x - 2.5) * x * x + 1.0, (((x - 5.0) * x + 8.0) * x - 4.0) * -0.5
    return np.where(x < 1.0, near, np.where(x < 2.0, far, 0.0))


# By name: how many pixels it reaches to either side, of the coarser of the two grids, and its weight at that distance.
_Filter = Literal["linear", "cubic"]
_FILTERS: Final[dict[_Filter, tuple[float, Callable[[FloatArray], FloatArray]]]] = {
    "linear": (1.0, lambda x: np.maximum(1.0 - x, 0.0)),
    "cubic": (2.0, _cubic),
}


def resized_field(values: FloatArray, shape: tuple[int, int]) -> NDArray[np.float32]:
    """An (h, w) float32 field at `shape` (H, W), bilinearly."""
    field = np.require(values, np.float32, requirements=("C", "W"))  # as below
    wide, out = np.empty((field.shape[0], shape[1]), np.float32), np.empty(shape, np.float32)
    across, down = _taps(field.shape[1], shape[1], "linear"), _taps(field.shape[0], shape[0], "linear")
    _resize_field(field, across, down, wide, out)
    return out


@kernel
def _resize_field(
    field: NDArray[np.float32], across: _Taps, down: _Taps, wide: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """Into `out` (H, W), by way of `wide` (h, W); sums are in double precision."""
    first, num, weight = across
    for i in range(wide.shape[0]):
        row, to = field[i], wide[i]
        for j in range(to.size):
            total = 0.0
            for t in range(num[j]):
                total += row[first[j] + t] * weight[j, t]
            to[j] = total
    first, num, weight = down
    sums = np.empty(out.shape[1])
    for i in range(out.shape[0]):
        to = out[i]
        sums[:] = 0.0
        for t in range(num[i]):
            row, share = wide[first[i] + t], weight[i, t]
            for j in range(sums.size):
                sums[j] += row[j] * share
        for j in range(sums.size):
            to[j] = sums[j]


def resized_planes(image: ImageArray, shape: tuple[int, int]) -> FloatArray:
    """(3, h, w) float32 in 0 to 255: an (H, W, 3) uint8 image at `shape` (h, w), whole numbers, bicubic."""
    # Of an array that cannot be written numba makes a second kernel, which takes a second to compile.
    pixels = np.require(image, requirements=("C", "W"))
    (H, W), (h, w) = image.shape[:2], shape
    across, down = _whole_taps(W, w), _whole_taps(H, h)
    planes = np.empty((3, h, w), np.float32)

    def work(top: int, bottom: int) -> None:  # once a core: rows that two spans need are narrowed for both
        first, num, weight = (each[top:bottom] for each in down)
        narrow = np.empty((3, first[-1] + num[-1] - first[0], w), np.uint8)
        _across(pixels.reshape(H, W * 3), *across, narrow, first[0])
        _down(narrow, first - first[0], num, weight, planes, top)

    for_each_span(h, work)
    return planes


@lru_cache(maxsize=32)
def _taps(size: int, count: int, filter_: _Filter) -> _Taps:
    """Of each of `count` pixels out of `size`; the weights, in double precision, add up to 1."""
    reach, weigh = _FILTERS[filter_]
    scale = size / count
    stretch = max(scale, 1.0)  # a smaller image is of all pixels under the filter, as wide as the new ones
    centre = (np.arange(count) + 0.5) * scale
    first = np.maximum((centre - reach * stretch + 0.5).astype(np.int64), 0)
    last = np.minimum((centre + reach * stretch + 0.5).astype(np.int64), size)
    index = first[:, None] + np.arange((last - first).max())
    weight = weigh(np.abs((index - centre[:, None] + 0.5) * (1.0 / stretch)))
    weight[index >= last[:, None]] = 0.0
    weight /= np.cumsum(weight, axis=1)[:, -1:]  # one after the other, as PIL adds them
    return _Taps(first.astype(np.int32), (last - first).astype(np.int32), weight)


@lru_cache(maxsize=32)
def _whole_taps(size: int, count: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The taps of a bicubic filter with weights in whole numbers."""
    first, num, weight = _taps(size, count, "cubic")
    return first, num, np.trunc(np.copysign(0.5, weight) + weight * (1 << _BITS)).astype(np.int32)


@kernel
def _across(
    image: NDArray[np.uint8],
    first: NDArray[np.int32],
    num: NDArray[np.int32],
    weight: NDArray[np.int32],
    narrow: NDArray[np.uint8],
    top: int,
) -> None:
    """Rows of an (H, 3 · W) image from `top` on, each at its new width, into `narrow` (3, rows, w)."""
    # Turned, so that a sum over columns runs over many rows at once.
    turned, done = np.zeros((image.shape[1], _ROWS), np.uint8), np.empty((first.size, _ROWS), np.uint8)
    sums = np.empty(_ROWS, np.int32)
    for row in range(0, narrow.shape[1], _ROWS):
        rows = min(_ROWS, narrow.shape[1] - row)
        for i in range(image.shape[1]):
            for j in range(rows):
                turned[i, j] = image[top + row + j, i]
        for channel in range(3):
            for column in range(first.size):
                sums[:] = np.int32(1 << (_BITS - 1))
                for t in range(num[column]):
                    w, pixels = weight[column, t], turned[3 * (first[column] + t) + channel]
                    for j in range(_ROWS):
                        sums[j] += np.int32(w * np.int32(pixels[j]))
                for j in range(_ROWS):
                    done[column, j] = np.uint8(min(max(sums[j] >> _BITS, 0), 255))
            for j in range(rows):
                for column in range(first.size):
                    narrow[channel, row + j, column] = done[column, j]


@kernel
def _down(
    narrow: NDArray[np.uint8],
    first: NDArray[np.int32],
    num: NDArray[np.int32],
    weight: NDArray[np.int32],
    planes: NDArray[np.float32],
    top: int,
) -> None:
    """As many rows as there are taps, of `narrow` (3, rows, w), into `planes` (3, h, w) from row `top` on."""
    sums = np.empty(narrow.shape[2], np.int32)
    for channel in range(3):
        for row in range(first.size):
            sums[:] = np.int32(1 << (_BITS - 1))
            for t in range(num[row]):
                w, pixels = weight[row, t], narrow[channel, first[row] + t]
                for column in range(sums.size):
                    sums[column] += np.int32(w * np.int32(pixels[column]))
            for column in range(sums.size):
                planes[channel, top + row, column] = np.float32(min(max(sums[column] >> _BITS, 0), 255))

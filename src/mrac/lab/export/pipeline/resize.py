"""Pillow's resampling as a graph: the same taps, coefficients and rounding, for sizes that are fixed.

Pillow resamples along the rows and then along the columns; from version 13 on the other way round where the height
shrinks far more. Each pixel is a sum over a few neighbours, with coefficients that depend on the sizes alone. In 8 bits
coefficients are integers in units of 2⁻²² and each pass rounds to a byte; in floating point sums are double and each
pass rounds to single precision. Both are reproduced here to the last bit.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mrac.lab.export.pipeline.graph import Tensor

Filter = Literal["box", "bilinear", "bicubic"]
_PRECISION_BITS: Final = 22  # of Pillow's 8-bit coefficients
_DRAWINGS: Final = 64  # after which both orders are taken for the same


class Taps(NamedTuple):
    """One pass of a resampling: output i is the sum over t of coefficient[t, i] · input[neighbour[t, i]].

    Attributes:
        neighbour: (T, N) index of the input.
        coefficient: (T, N); 0 where an output has fewer than T neighbours.
    """

    neighbour: NDArray[np.int64]
    coefficient: NDArray[np.float64]


def _box(x: float) -> float:
    return 1.0 if -0.5 < x <= 0.5 else 0.0


def _bilinear(x: float) -> float:
    return max(1.0 - abs(x), 0.0)


def _bicubic(x: float) -> float:
    a, x = -0.5, abs(x)
    if x < 1.0:
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    return (((x - 5.0) * x + 8.0) * x - 4.0) * a if x < 2.0 else 0.0


_FILTERS: Final[dict[Filter, tuple[Callable[[float], float], float]]] = {
    "box": (_box, 0.5),
    "bilinear": (_bilinear, 1.0),
    "bicubic": (_bicubic, 2.0),
}


def taps(size: int, new_size: int, kind: Filter) -> Taps:
    """Neighbours and coefficients from a side of `size` to one of `new_size`: Pillow's `precompute_coeffs`."""
    weigh, reach = _FILTERS[kind]
    scale = size / new_size
    wide = max(scale, 1.0)  # when shrinking the filter grows with the pixel: antialias
    support = reach * wide
    rows = []
    for i in range(new_size):
        centre = (i + 0.5) * scale
        first, last = max(int(centre - support + 0.5), 0), min(int(centre + support + 0.5), size)
        weights = [weigh((j - centre + 0.5) / wide) for j in range(first, last)]
        total = 0.0
        for weight in weights:  # in Pillow's order: a sum of another order differs in the last bit
            total += weight
        rows.append((first, [weight / total if total else weight for weight in weights]))
    num = max(len(weights) for _, weights in rows)
    index, coefficient = np.zeros((num, new_size), np.int64), np.zeros((num, new_size))
    for i, (first, weights) in enumerate(rows):
        index[: len(weights), i] = np.arange(first, first + len(weights))
        coefficient[: len(weights), i] = weights
    return Taps(index, coefficient)


def resize_bytes(image: Tensor, size: tuple[int, int], new_size: tuple[int, int], kind: Filter) -> Tensor:
    """(H, W, C) uint8 of `size` (H, W) to (h, w, C) int32 in [0, 255], h and w being `new_size`."""

    def one_pass(values: Tensor, sizes: tuple[int, int]) -> Tensor:
        index, share = taps(*sizes, kind)
        fixed = np.trunc(share * 2.0**_PRECISION_BITS + np.copysign(0.5, share)).astype(np.int32)
        half = np.int32(1 << (_PRECISION_BITS - 1))
        total = _sum(values, index, fixed) + half
        # Division rounds towards 0 and Pillow's shift downwards: they differ below 0 alone, which is clipped.
        return (total / np.int32(1 << _PRECISION_BITS)).clip(np.int32(0), np.int32(255))

    order = _order(lambda noise: noise.integers(0, 256, size, dtype=np.uint8), size, new_size, kind)
    return _both(image.cast(np.int32), size, new_size, order, one_pass)


def resize_field(field: Tensor, size: tuple[int, int], new_size: tuple[int, int], kind: Filter) -> Tensor:
    """(H, W, C) float32 of `size` (H, W) to (h, w, C) float32, h and w being `new_size`."""

    def one_pass(values: Tensor, sizes: tuple[int, int]) -> Tensor:
        return _sum(values.cast(np.float64), *taps(*sizes, kind)).cast(np.float32)

    order = _order(lambda noise: noise.random(size, dtype=np.float32), size, new_size, kind)
    return _both(field, size, new_size, order, one_pass)


def _order(
    draw: Callable[[np.random.Generator], NDArray[Any]], size: tuple[int, int], new_size: tuple[int, int], kind: Filter
) -> tuple[int, int]:
    """The axes in the order in which the installed Pillow resamples, tried on noise: the rule differs by version.

    The order shows in the rounding alone: in the first drawing of any photograph's size, in a few of a tiny one's.
    """
    (H, W), (h, w), method = size, new_size, Image.Resampling[kind.upper()]
    noise = np.random.default_rng(0)
    for _ in range(_DRAWINGS if h != H and w != W else 0):
        picture = Image.fromarray(draw(noise))
        rows, columns = picture.resize((w, H), method), picture.resize((W, h), method)
        rows_first, columns_first = (np.asarray(one.resize((w, h), method)) for one in (rows, columns))
        if not np.array_equal(rows_first, columns_first):
            return (1, 0) if np.array_equal(rows_first, np.asarray(picture.resize((w, h), method))) else (0, 1)
    return 1, 0


def _both(
    values: Tensor,
    size: tuple[int, int],
    new_size: tuple[int, int],
    order: tuple[int, int],
    one_pass: Callable[[Tensor, tuple[int, int]], Tensor],
) -> Tensor:
    """One pass after the other; each along the first axis, where neighbours are whole blocks of memory."""
    for axis in order:
        if size[axis] == new_size[axis]:
            continue
        sides = size[axis], new_size[axis]
        values = one_pass(values, sides) if axis == 0 else one_pass(values.transpose(1, 0, 2), sides).transpose(1, 0, 2)
    return values


def _sum(values: Tensor, index: NDArray[np.int64], coefficient: NDArray[np.float64] | NDArray[np.int32]) -> Tensor:
    """Taps along the first of three axes."""
    terms = [values.take(at) * share[:, None, None] for at, share in zip(index, coefficient, strict=True)]
    total: Tensor = terms[0]
    for term in terms[1:]:
        total = total + term
    return total

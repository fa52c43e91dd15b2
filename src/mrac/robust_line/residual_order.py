"""Sorts points by their residual y - slope * x, from which pairwise slopes are counted without being computed.

For x_i < x_j the slope of the pair is below a threshold exactly where the residuals at that threshold are in
the opposite order. Residuals are double-double, so that their order is that of the real numbers up to pairs
whose slope agrees with the threshold to 2**-50 or so; `exact_slope_range` gives the thresholds for which this holds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.robust_line.inversions import Permutation
from mrac.runtime.jit import kernel

_SPLITTER = 134217729.0  # 2**27 + 1, Veltkamp's constant
_SIGN = np.uint64(1 << 63)
_DIGIT = np.uint64(255)
_DIGITS = 8
_BINS = 256


class Points(NamedTuple):
    """K points in ascending order of x, those of equal x in ascending order of y.

    Attributes:
        x: (K,) abscissae.
        y: (K,) ordinates.
    """

    x: FloatArray
    y: FloatArray


class SortBuffers(NamedTuple):
    """Buffers for one sort of K points.

    Attributes:
        high: (K,) leading part of the residuals.
        low: (K,) trailing part of the residuals.
        key: (K,) sort keys.
        spare_key: (K,) sort keys after every other pass.
        spare_item: (K,) points after every other pass.
        bins: (8, 256) number of keys by place and value of their bytes.
    """

    high: FloatArray
    low: FloatArray
    key: NDArray[np.uint64]
    spare_key: NDArray[np.uint64]
    spare_item: Permutation
    bins: NDArray[np.int64]


@kernel
def sort_buffers(size: int) -> SortBuffers:
    """Allocates the buffers for `size` points."""
    return SortBuffers(
        np.empty(size),
        np.empty(size),
        np.empty(size, np.uint64),
        np.empty(size, np.uint64),
        np.empty(size, np.uint32),
        np.empty((_DIGITS, _BINS), np.int64),
    )


@kernel
def _fill_keys(values: FloatArray, item: Permutation, key: NDArray[np.uint64], bins: NDArray[np.int64]) -> None:
    """Writes integers in the order of `values[item]` to `key` and counts their bytes in `bins`."""
    bits = values.view(np.uint64)
    for digit in range(_DIGITS):
        for b in range(_BINS):
            bins[digit, b] = 0
    for i in range(item.size):
        pattern = bits[item[i]]
        k = ~pattern if pattern & _SIGN else pattern | _SIGN
        key[i] = k
        for digit in range(_DIGITS):
            bins[digit, (k >> np.uint64(8 * digit)) & _DIGIT] += 1


@kernel
def _scatter(
    key: NDArray[np.uint64],
    item: Permutation,
    to_key: NDArray[np.uint64],
    to_item: Permutation,
    place: NDArray[np.int64],
    shift: int,
) -> None:
    """Moves keys and points to the next free place of their byte at `shift`."""
    by = np.uint64(shift)
    for i in range(item.size):
        k = key[i]
        digit = (k >> by) & _DIGIT
        at = np.uint64(place[digit])
        place[digit] += 1
        to_key[at] = k
        to_item[at] = item[i]


@kernel
def _sort_by(values: FloatArray, item: Permutation, buffers: SortBuffers) -> None:
    """Sorts the points `item` by `values[item]`, keeping the order of equals: a radix sort on the bytes of the bits.

    -0.0 sorts before 0.0; NaN is not allowed.
    """
    key, spare_key, spare_item, bins = buffers.key, buffers.spare_key, buffers.spare_item, buffers.bins
    size = item.size
    _fill_keys(values, item, key, bins)
    moved = False
    for digit in range(_DIGITS):
        place = bins[digit]
        if place[(key[0] >> np.uint64(8 * digit)) & _DIGIT] == size:
            continue  # the byte is the same in all keys
        before = 0
        for b in range(_BINS):
            count = place[b]
            place[b] = before
            before += count
        if moved:
            _scatter(spare_key, spare_item, key, item, place, 8 * digit)
        else:
            _scatter(key, item, spare_key, spare_item, place, 8 * digit)
        moved = not moved
    if moved:
        for i in range(size):
            item[i] = spare_item[i]


@kernel
def _sort_by_parts(item: Permutation, buffers: SortBuffers) -> None:
    """Sorts the points `item` by `high` and those of equal `high` by `low`."""
    for part in range(2):
        _sort_by(buffers.low if part == 0 else buffers.high, item, buffers)


@kernel
def sort_points(x: FloatArray, y: FloatArray, buffers: SortBuffers) -> Points:
    """Copies the points, sorted by x and those of equal x by y; -0.0 becomes 0.0, so that it ties with it.

    Args:
        x: (K,) abscissae, finite, K >= 1.
        y: (K,) ordinates, finite.
        buffers: for K points.
    """
    item = np.empty(x.size, np.uint32)
    for i in range(x.size):
        item[i] = i
        buffers.high[i] = x[i] + 0.0
        buffers.low[i] = y[i] + 0.0
    _sort_by_parts(item, buffers)
    points = Points(np.empty(x.size), np.empty(x.size))
    for i in range(x.size):
        points.x[i] = buffers.high[item[i]]
        points.y[i] = buffers.low[item[i]]
    return points


@kernel
def _residuals(points: Points, slope: float, high: FloatArray, low: FloatArray) -> None:
    """Computes y - slope * x as unevaluated sums high + low (Dekker's product, Knuth's sum)."""
    t = _SPLITTER * slope
    slope_high = t - (t - slope)
    slope_low = slope - slope_high
    x, y = points.x, points.y
    for i in range(x.size):
        t = _SPLITTER * x[i]
        x_high = t - (t - x[i])
        x_low = x[i] - x_high
        product = slope * x[i]
        product_low = slope_low * x_low - (((product - slope_high * x_high) - slope_low * x_high) - slope_high * x_low)
        total = y[i] - product
        t = total - y[i]
        rest = ((y[i] - (total - t)) - (product + t)) - product_low
        head = total + rest
        high[i] = head + 0.0  # so that -0.0 ties with 0.0
        low[i] = (rest - (head - total)) + 0.0


@kernel
def _reverse(order: Permutation, start: int, stop: int) -> None:
    """Reverses `order[start:stop]`."""
    stop -= 1
    while start < stop:
        order[start], order[stop] = order[stop], order[start]
        start += 1
        stop -= 1


@kernel
def reverse_distinct(x: FloatArray, order: Permutation, start: int, stop: int) -> int:
    """Reverses `order[start:stop]`, a stretch of ascending points, but for the order among points of equal x.

    Returns:
        The number of pairs reversed, which is the number of pairs of distinct x in the stretch.
    """
    _reverse(order, start, stop)
    pairs = (stop - start) * (stop - start - 1) // 2
    at = start
    while at < stop:
        end = at + 1
        while end < stop and x[order[end]] == x[order[at]]:
            end += 1
        _reverse(order, at, end)
        pairs -= (end - at) * (end - at - 1) // 2
        at = end
    return pairs


@kernel
def order_by_residual(points: Points, slope: float, buffers: SortBuffers, below: Permutation, upto: Permutation) -> int:
    """Sorts the points by y - slope * x.

    Args:
        points: K points.
        slope: 0, or its absolute value within `exact_slope_range`.
        buffers: for K points.
        below: (K,) result; ties stand in ascending order, so that the inversions are the slopes < `slope`.
        upto: (K,) result; ties of distinct x stand in descending order: the inversions are the slopes <= `slope`.

    Returns:
        The number of tied pairs of distinct x, which is the number of slopes == `slope`.
    """
    high, low = buffers.high, buffers.low
    _residuals(points, slope, high, low)
    size = below.size
    for i in range(size):
        below[i] = i
    _sort_by(high, below, buffers)
    close = False
    for i in range(1, size):
        close |= high[below[i]] == high[below[i - 1]]
    if close:
        for i in range(size):
            below[i] = i
        _sort_by_parts(below, buffers)
    for i in range(size):
        upto[i] = below[i]
    ties = 0
    if close:
        start = 0
        for i in range(1, size + 1):
            if i == size or high[below[i]] != high[below[start]] or low[below[i]] != low[below[start]]:
                if i - start > 1:
                    ties += reverse_distinct(points.x, upto, start, i)
                start = i
    return ties


@kernel
def exact_slope_range(points: Points) -> tuple[float, float]:
    """Returns the least and the greatest |slope| != 0 at which residuals order the points as real numbers would.

    A residual is off by less than 2**-103 (|y| + |slope * x|) + 2**-1070, the latter from underflow. For a
    pair of distinct x and distinct y that matters only if the threshold agrees with its slope to about
    2**-50. Two kinds of pair could be hit harder, and the bounds exclude just that: equal y, where |slope|
    times the gap in x must stand out from |y|, and equal x, where the gap in y must stand out from |slope *
    x|. They also keep products in range.

    Returns:
        (least, greatest), an empty range where this holds for no slope.
    """
    x, y = points.x, points.y
    x_gap = np.inf
    y_gap = np.inf
    x_most = 0.0
    y_most = 0.0
    for i in range(x.size):
        x_most = max(x_most, abs(x[i]))
        y_most = max(y_most, abs(y[i]))
        if i > 0 and x[i] != x[i - 1]:
            x_gap = min(x_gap, x[i] - x[i - 1])
        elif i > 0 and y[i] != y[i - 1]:
            y_gap = min(y_gap, y[i] - y[i - 1])
    if x_gap == np.inf or x_most > 2.0**990:
        return np.inf, -np.inf
    least = max(2.0**-100 * y_most, 2.0**-1000) / x_gap
    return least, min(2.0**100 * y_gap / x_most, 2.0**990 / max(x_most, 1.0))

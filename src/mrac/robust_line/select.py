"""Exact order statistics (quickselect) of a float64 array, in place, for fifty elements as for a million.

Each round draws a few elements, places a window |value - centre| <= radius around the wanted ranks, counts what
is below and inside it (vectorised), and keeps only the part that holds the wanted ranks. The counts are
exact, so a window that misses costs one more round, never a wrong answer. Sixteen or fewer elements go
through a sorting network.

Rounding in `value - centre` is harmless: rounded subtraction is monotone, so "below", "inside" and "above"
are always three consecutive stretches of the sorted array.
"""

import numpy as np

from mrac.conventions import FloatArray
from mrac.runtime.jit import kernel

_NETWORK = 16
"""Elements that the sorting network takes, and the size of the sorted sample that defines a window."""

_MEDIANS_FROM = 400
"""Number of elements from which the sample consists of medians of three: 48 draws then give a narrower window."""

_GOLDEN = 2654435769  # 2**32 / golden ratio: a Weyl sequence, even over the array and without a common period
_FRACTION = (1 << 32) - 1


@kernel
def _order(buffer: FloatArray, i: int, j: int) -> None:
    """Swaps `buffer[i]` and `buffer[j]` unless they are in order; compiles to one min and one max."""
    left = buffer[i]
    right = buffer[j]
    buffer[i] = right if right < left else left
    buffer[j] = left if right < left else right


@kernel
def _sort_network(buffer: FloatArray) -> None:
    """Sorts the 16 elements of `buffer` by Batcher's odd-even merge: 63 exchanges, no branch to mispredict."""
    for a in range(0, 16, 4):
        _order(buffer, a, a + 1)
        _order(buffer, a + 2, a + 3)
        _order(buffer, a, a + 2)
        _order(buffer, a + 1, a + 3)
        _order(buffer, a + 1, a + 2)
    for a in range(0, 16, 8):
        for i in range(a, a + 4):
            _order(buffer, i, i + 4)
        _order(buffer, a + 2, a + 4)
        _order(buffer, a + 3, a + 5)
        for i in range(a + 1, a + 7, 2):
            _order(buffer, i, i + 1)
    for i in range(8):
        _order(buffer, i, i + 8)
    for i in range(4, 8):
        _order(buffer, i, i + 4)
    for i in range(2, 12, 4):
        _order(buffer, i, i + 2)
        _order(buffer, i + 1, i + 3)
    for i in range(1, 14, 2):
        _order(buffer, i, i + 1)


@kernel
def _draw(values: FloatArray, n: int, buffer: FloatArray, phase: int) -> None:
    """Fills `buffer` with 16 elements of `values[:n]`, sorted."""
    for i in range(_NETWORK):
        buffer[i] = values[(((i * _GOLDEN + phase) & _FRACTION) * n) >> 32]
    _sort_network(buffer)


@kernel
def _draw_medians(values: FloatArray, n: int, buffer: FloatArray, phase: int) -> None:
    """Fills `buffer` with the medians of 16 triples out of `values[:n]`, sorted."""
    for i in range(_NETWORK):
        at = 3 * i * _GOLDEN + phase
        a = values[((at & _FRACTION) * n) >> 32]
        b = values[(((at + _GOLDEN) & _FRACTION) * n) >> 32]
        c = values[(((at + 2 * _GOLDEN) & _FRACTION) * n) >> 32]
        low = b if b < a else a
        high = a if b < a else b
        middle = c if c < high else high
        buffer[i] = low if middle < low else middle
    _sort_network(buffer)


@kernel
def _window(values: FloatArray, n: int, share: float, buffer: FloatArray, phase: int) -> tuple[float, float]:
    """Guesses a window that holds the element at the quantile `share` of `values[:n]`.

    Returns:
        (centre, radius). Where both are finite the window holds at least one element of `values[:n]`.
    """
    if n >= _MEDIANS_FROM and 0.3 < share < 0.7:
        _draw_medians(values, n, buffer, phase)
        share = share * share * (3.0 - 2.0 * share)  # the quantile's place among medians of three
    else:
        _draw(values, n, buffer, phase)
    middle = int(share * _NETWORK)
    low = buffer[max(middle - 2, 0)]
    high = buffer[min(middle + 1, _NETWORK - 1)]
    centre = 0.5 * low + 0.5 * high
    return centre, max(high - centre, centre - low)


@kernel
def _count(values: FloatArray, n: int, centre: float, radius: float) -> tuple[int, int]:
    """Counts the elements of `values[:n]` below and inside the window.

    Inside is "not above and not below", so that an infinity is inside a window centred on itself.
    """
    below = 0
    inside = 0
    for i in range(n):
        offset = values[i] - centre
        below += offset < -radius
        inside += not (abs(offset) > radius)
    return below, inside


@kernel
def _keep_inside(values: FloatArray, n: int, centre: float, radius: float) -> int:
    """Moves the elements inside the window to the front and returns their number.

    Every element is stored and the end advances only past kept ones: a branch here would be mispredicted half
    the time.
    """
    kept = 0
    for i in range(n):
        value = values[i]
        values[kept] = value
        kept += not (abs(value - centre) > radius)
    return kept


@kernel
def _keep_outside(values: FloatArray, n: int, centre: float, radius: float, sign: float) -> int:
    """As `_keep_inside`, for the elements above the window (`sign` 1.0) or below it (-1.0)."""
    kept = 0
    for i in range(n):
        value = values[i]
        values[kept] = value
        kept += sign * (value - centre) > radius
    return kept


@kernel
def _across(values: FloatArray, n: int, centre: float, radius: float, upper: bool) -> tuple[float, float]:
    """Finds the two elements on either side of the window's lower (or upper) edge."""
    left = -np.inf
    right = np.inf
    for i in range(n):
        value = values[i]
        offset = value - centre
        if (offset > radius) if upper else not (offset < -radius):
            right = min(right, value)
        else:
            left = max(left, value)
    return left, right


@kernel
def order_statistics_in_place(values: FloatArray, first: int, last: int) -> tuple[float, float]:
    """Returns the elements of ranks `first` and `last`, counted from 0, and destroys `values`.

    Args:
        values: (n,) elements, n < 2**31; infinities are allowed, NaN is not.
        first: rank of the first result, 0 <= first < n.
        last: rank of the second result, `first` or `first + 1`.

    Returns:
        (element of rank `first`, element of rank `last`).
    """
    buffer = np.empty(_NETWORK)
    n = values.size
    phase = 0
    stuck = False
    while n > _NETWORK:
        phase += _GOLDEN // 5
        centre, radius = _window(values, n, 0.5 * (first + last + 1) / n, buffer, phase)
        if stuck:
            # An element's own value splits the array exactly and is itself dropped or returned: so the array shrinks.
            centre, radius = buffer[_NETWORK // 2], 0.0
        below, inside = _count(values, n, centre, radius)
        upto = below + inside
        if below <= first and last < upto:
            if stuck:
                return centre, centre
            stuck = inside == n
            if not stuck:
                n = _keep_inside(values, n, centre, radius)
                first -= below
                last -= below
            continue
        stuck = False
        if last < below:
            n = _keep_outside(values, n, centre, radius, -1.0)
        elif first >= upto:
            n = _keep_outside(values, n, centre, radius, 1.0)
            first -= upto
            last -= upto
        else:
            return _across(values, n, centre, radius, first >= below)
    for i in range(_NETWORK):
        buffer[i] = values[i] if i < n else np.inf
    _sort_network(buffer)
    return buffer[first], buffer[last]


@kernel
def median_in_place(values: FloatArray) -> float:
    """Returns the median of `values` as `np.median` does, bit for bit, and destroys `values`.

    Args:
        values: (n,) elements, n < 2**31; infinities are allowed, NaN is not.

    Returns:
        The middle element, or the mean of the two middle ones (NaN between -inf and +inf, infinite where
        their sum overflows, both as in numpy). NaN for an empty array. The sign of a zero result is not
        specified.
    """
    n = values.size
    if n == 0:
        return np.nan
    low, high = order_statistics_in_place(values, (n - 1) // 2, n // 2)
    return low if n % 2 == 1 else (low + high) / 2.0

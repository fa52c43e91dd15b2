"""The median slope of all pairs without storing them: O(K**2) time, O(K) memory, exact for every finite input.

The fallback of slope selection for numbers too extreme for counting: a radix selection on the bits of the slopes,
16 bits per pass over all pairs, so that ties, infinities and subnormals cost nothing extra.
"""

import numpy as np

from mrac.conventions import FloatArray
from mrac.robust_line.slopes import mean_slope
from mrac.runtime.jit import kernel

_BITS = 16
_SIGN = np.uint64(1 << 63)


@kernel
def _row(x: FloatArray, y: FloatArray, i: int, slopes: FloatArray) -> int:
    """Writes the slopes from point `i` to the points after it to `slopes`; returns how many there are."""
    count = 0
    for j in range(i + 1, x.size):
        run = x[j] - x[i]
        # Adding 0.0 turns -0.0 into 0.0: they are one slope and must have the same bits.
        slopes[count] = np.divide(y[j] - y[i], run) + 0.0
        count += run != 0.0
    return count


@kernel
def _select(x: FloatArray, y: FloatArray, rank: int) -> tuple[float, int]:
    """Returns the slope of the given rank and the number of slopes that are not above it."""
    slopes = np.empty(x.size)
    bits = slopes.view(np.uint64)
    prefix = np.uint64(0)
    below = 0
    bins = np.empty(1 << _BITS, np.int64)
    for shift in range(64 - _BITS, -1, -_BITS):
        bins[:] = 0
        by = np.uint64(shift)
        for i in range(x.size - 1):
            for k in range(_row(x, y, i, slopes)):
                b = bits[k]
                key = (~b if b & _SIGN else b | _SIGN) >> by
                if key >> np.uint64(_BITS) == prefix:
                    bins[key & np.uint64((1 << _BITS) - 1)] += 1
        chosen = 0
        while below + bins[chosen] <= rank:
            below += bins[chosen]
            chosen += 1
        prefix = (prefix << np.uint64(_BITS)) | np.uint64(chosen)
    bits[0] = prefix & ~_SIGN if prefix & _SIGN else ~prefix
    return slopes[0], below + bins[chosen]


@kernel
def _next_above(x: FloatArray, y: FloatArray, slope: float) -> float:
    """Returns the least slope above `slope`."""
    slopes = np.empty(x.size)
    least = np.inf
    for i in range(x.size - 1):
        for k in range(_row(x, y, i, slopes)):
            if slopes[k] > slope:
                least = min(least, slopes[k])
    return least


@kernel
def slope_by_streaming(x: FloatArray, y: FloatArray) -> float:
    """Returns the median slope over all pairs of distinct x in at most five passes over the pairs.

    Args:
        x: (K,) abscissae, finite; their differences must not overflow.
        y: (K,) ordinates, finite; likewise.

    Returns:
        The median slope [y per x]; NaN where no two x differ.
    """
    slopes = np.empty(x.size)
    total = 0
    for i in range(x.size - 1):
        total += _row(x, y, i, slopes)
    if total == 0:
        return np.nan
    low, upto = _select(x, y, (total - 1) // 2)
    high = low if total // 2 < upto else _next_above(x, y, low)
    return mean_slope(low, high)

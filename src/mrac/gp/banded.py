"""Banded positive definite systems in single precision: elimination of four variables at a time, compiled.

For the 4,800 cells of an image of 480 × 640 in 1.2 ms, where LAPACK's solver takes 3 (one core, 2026-11-18).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mrac.gp.linear_algebra import factor
from mrac.runtime.jit import kernel

_LANES: Final = 16  # rows are updated in multiples of this: loops of vector code without a remainder


def empty_band(num: int, width: int) -> NDArray[np.float32]:
    """Zeros for a symmetric matrix of `num` rows, whose entry (i, j) with 0 <= i − j <= `width` is at [i, at − i + j].

    There, `at` is `diagonal(width)`. Around the entries there is room to work in.
    """
    return np.zeros((-(-num // 4) * 4 + width + 1, diagonal(width) + 1 + _LANES), np.float32)


def diagonal(width: int) -> int:
    """The place of a row's own column in `empty_band`."""
    return width + 4


@kernel
def solve_banded(band: NDArray[np.float32], width: int, right_side: NDArray[np.float32]) -> None:
    """Solves for n right sides (n, num), in place; `band` is overwritten.

    Without reassociation of floats: with it, the first process after an installation, which compiles the kernels, and
    later ones, which load them, had results that differ in the last digits.
    """
    n, num = right_side.shape
    N, room = -(-num // 4) * 4, band.shape[0]
    for i in range(num, room):
        band[i, width + 4] = 1.0
    y = np.zeros((n, room), np.float32)
    y[:, :num] = right_side
    pivot, inverse = np.empty(N, np.float32), np.empty((N, 4), np.float32)
    factors = np.zeros((N, width + 2 * _LANES), np.float32)
    for k in range(0, N, 4):
        rows = factors[k : k + 4]
        _eliminate(band, width, k, pivot[k : k + 4], inverse[k : k + 4], rows)
        for s in range(n):
            _forwards(y[s, k:], inverse[k : k + 4], pivot[k : k + 4], rows, width)
    for k in range(N - 4, -1, -4):
        for s in range(n):
            _backwards(y[s, k:], inverse[k : k + 4], pivot[k : k + 4], factors[k : k + 4], width)
    right_side[:] = y[:, :num]


@kernel
def _eliminate(
    band: NDArray[np.float32],
    width: int,
    k: int,
    pivot: NDArray[np.float32],
    inverse: NDArray[np.float32],
    rows: NDArray[np.float32],
) -> None:
    """Eliminates variables k to k + 3 from those after them, with which they share the band.

    Afterwards `rows` (4, >= `width`) are the columns of the triangular factor, times the pivots (4,), and `inverse`
    (4, 4) is that of the unit triangular block of the four.
    """
    own = width + 4
    for i in range(4):
        for j in range(i + 1):
            inverse[i, j] = band[k + i, own - i + j]
    w10, w20, w21, w30, w31, w32 = factor(inverse, pivot, 0)
    inverse[1, 0], inverse[2, 0], inverse[2, 1] = w10, w20, w21
    inverse[3, 0], inverse[3, 1], inverse[3, 2] = w30, w31, w32
    d0, d1, d2, d3 = pivot[0], pivot[1], pivot[2], pivot[3]
    num = (width + 1) // 2 * 2  # rows in pairs: one more than the band reaches has zeros there
    c0, c1, c2, c3 = rows[0], rows[1], rows[2], rows[3]
    for i in range(num):
        x = band[k + 4 + i, width - i : width - i + 4]
        x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
        c0[i], c1[i], c2[i] = x0, x1 + w10 * x0, x2 + w21 * x1 + w20 * x0
        c3[i] = x3 + w32 * x2 + w31 * x1 + w30 * x0
    for i in range(0, num, 2):
        f0, f1, f2, f3 = c0[i] / d0, c1[i] / d1, c2[i] / d2, c3[i] / d3
        g0, g1, g2, g3 = c0[i + 1] / d0, c1[i + 1] / d1, c2[i + 1] / d2, c3[i + 1] / d3
        n, left = ((i + 1) // _LANES + 1) * _LANES, own - i
        upper, lower = band[k + 4 + i, left : left + n], band[k + 5 + i, left - 1 : left - 1 + n]
        h0, h1, h2, h3 = rows[0, :n], rows[1, :n], rows[2, :n], rows[3, :n]
        for j in range(n):
            upper[j] -= f0 * h0[j] + f1 * h1[j] + f2 * h2[j] + f3 * h3[j]
            lower[j] -= g0 * h0[j] + g1 * h1[j] + g2 * h2[j] + g3 * h3[j]


@kernel
def _forwards(
    y: NDArray[np.float32],
    inverse: NDArray[np.float32],
    pivot: NDArray[np.float32],
    rows: NDArray[np.float32],
    width: int,
) -> None:
    """Eliminates the first four entries of a right side from those after them; see `_eliminate`."""
    y[3] += inverse[3, 2] * y[2] + inverse[3, 1] * y[1] + inverse[3, 0] * y[0]
    y[2] += inverse[2, 1] * y[1] + inverse[2, 0] * y[0]
    y[1] += inverse[1, 0] * y[0]
    t0, t1, t2, t3 = y[0] / pivot[0], y[1] / pivot[1], y[2] / pivot[2], y[3] / pivot[3]
    after = y[4 : 4 + width]
    c0, c1, c2, c3 = rows[0, :width], rows[1, :width], rows[2, :width], rows[3, :width]
    for i in range(width):
        after[i] -= t0 * c0[i] + t1 * c1[i] + t2 * c2[i] + t3 * c3[i]


@kernel
def _backwards(
    y: NDArray[np.float32],
    inverse: NDArray[np.float32],
    pivot: NDArray[np.float32],
    rows: NDArray[np.float32],
    width: int,
) -> None:
    """Solves for the first four entries, those after them being solved for; see `_eliminate`."""
    t0, t1, t2, t3 = y[0], y[1], y[2], y[3]
    after = y[4 : 4 + width]
    c0, c1, c2, c3 = rows[0, :width], rows[1, :width], rows[2, :width], rows[3, :width]
    for i in range(width):
        t0 -= c0[i] * after[i]
        t1 -= c1[i] * after[i]
        t2 -= c2[i] * after[i]
        t3 -= c3[i] * after[i]
    t0, t1, t2, t3 = t0 / pivot[0], t1 / pivot[1], t2 / pivot[2], t3 / pivot[3]
    y[0] = t0 + inverse[1, 0] * t1 + inverse[2, 0] * t2 + inverse[3, 0] * t3
    y[1] = t1 + inverse[2, 1] * t2 + inverse[3, 1] * t3
    y[2], y[3] = t2 + inverse[3, 2] * t3, t3

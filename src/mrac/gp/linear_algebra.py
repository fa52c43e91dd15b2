"""Linear algebra of covariances: leave-one-out residuals in closed form and their density.

In kernels of our own: LAPACK's threads would compete over matrices this small. On a machine that is busy with other
things, as a robot's is, that made the gate four times slower than one thread alone.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.runtime.jit import fast_kernel

_LANES: Final = 16  # rows are padded to, and updated in, multiples of this: loops of vector code without a remainder


class Scratch(NamedTuple):
    """What `leave_one_out` works on, made by `scratch`, for N >= K a multiple of four and M >= N one of `_LANES`.

    Attributes:
        matrix: (N, M). The caller fills the lower triangle of its first K rows and columns with a covariance.
        error: (N,). The caller fills the first K.
        pivot: (N,).
        pivot_rows: (4, M).
        precision: (N,) diagonal of the inverse.
        solved: (N,) inverse · error.
        inverse: (K, K), filled where there are blocks to leave out.
    """

    matrix: FloatArray
    error: FloatArray
    pivot: FloatArray
    pivot_rows: FloatArray
    precision: FloatArray
    solved: FloatArray
    inverse: FloatArray


class Blocks(NamedTuple):
    """Readings that are compared with those outside a block around them, D of them.

    Attributes:
        start: (D + 1,) where the members of each begin, and the last ones end.
        members: of all blocks one after the other, the reading itself first.
    """

    start: NDArray[np.int64]
    members: NDArray[np.int64]

    @classmethod
    def of(cls, members: list[NDArray[np.intp]]) -> "Blocks":
        """From the members of each."""
        start = np.cumsum([0, *(each.size for each in members)])
        return cls(start, np.concatenate([np.zeros(0, np.int64), *members]).astype(np.int64))


def student_t_log_density(error: FloatArray, var: FloatArray, dof: float) -> FloatArray:
    """Log density of Student's t with `dof` > 2 degrees of freedom, scaled to have the variance `var`; all broadcast.

    Leave-one-out residuals of inliers have longer tails than a Gaussian's.
    """
    scale2 = var * ((dof - 2.0) / dof)
    constant = student_t_constant(dof)
    return np.asarray(constant - 0.5 * np.log(scale2) - 0.5 * (dof + 1.0) * np.log1p(error**2 / (dof * scale2)))


def student_t_constant(dof: float) -> float:
    """The term of `student_t_log_density` that depends on `dof` alone."""
    return math.lgamma(0.5 * (dof + 1.0)) - math.lgamma(0.5 * dof) - 0.5 * math.log(math.pi * dof)


@fast_kernel
def scratch(K: int, num_blocks: int) -> Scratch:
    """Memory for covariances of K readings, of which `num_blocks` have a block that is left out."""
    N = -(-K // 4) * 4
    M = -(-N // _LANES) * _LANES
    size = K if num_blocks else 0
    return Scratch(
        np.zeros((N, M)), np.zeros(N), np.zeros(N), np.zeros((4, M)), np.zeros(N), np.zeros(N), np.zeros((size, size))
    )


@fast_kernel
def leave_one_out(work: Scratch, K: int, residual: FloatArray, var: FloatArray) -> None:
    """(K,) residual of each observation given all the others, and its variance; the covariance is overwritten.

    From the inverse of the covariance (Rasmussen & Williams 2006, eqs. 5.10–5.12), whose diagonal is all that is
    needed: from the inverse of its triangular factor, found by elimination.
    """
    matrix, error, pivot, pivot_rows, precision, solved, inverse = work
    N = matrix.shape[0]
    for i in range(K, N):
        for j in range(i):
            matrix[i, j] = 0.0
        matrix[i, i] = 1.0
        error[i] = 0.0
    for k in range(0, N, 4):
        _eliminate(matrix, error, pivot, pivot_rows, k)
    for j in range(N):
        precision[j] = 0.0
        solved[j] = 0.0
    for i in range(K):
        per_pivot = 1.0 / pivot[i]
        white = error[i] * per_pivot
        row, precisions, sums = matrix[i, :i], precision[:i], solved[:i]
        for j in range(i):
            precisions[j] += per_pivot * row[j] * row[j]
            sums[j] += white * row[j]
        precision[i] += per_pivot
        solved[i] += white
    for i in range(K):
        var[i] = 1.0 / precision[i]
        residual[i] = solved[i] / precision[i]
    if inverse.size:
        _fill_inverse(work)


@fast_kernel
def factor(matrix: FloatArray, pivot: FloatArray, k: int) -> tuple[float, float, float, float, float, float]:
    """Pivots of the block of variables k to k + 3, and the inverse of its unit triangular factor, row by row."""
    d0 = matrix[k, k]
    l10, l20, l30 = matrix[k + 1, k] / d0, matrix[k + 2, k] / d0, matrix[k + 3, k] / d0
    d1 = matrix[k + 1, k + 1] - l10 * l10 * d0
    t21, t31 = matrix[k + 2, k + 1] - l20 * l10 * d0, matrix[k + 3, k + 1] - l30 * l10 * d0
    l21, l31 = t21 / d1, t31 / d1
    d2 = matrix[k + 2, k + 2] - l20 * l20 * d0 - l21 * t21
    t32 = matrix[k + 3, k + 2] - l30 * l20 * d0 - l31 * t21
    l32 = t32 / d2
    pivot[k], pivot[k + 1], pivot[k + 2] = d0, d1, d2
    pivot[k + 3] = matrix[k + 3, k + 3] - l30 * l30 * d0 - l31 * t31 - l32 * t32
    w20 = l21 * l10 - l20
    return -l10, w20, -l21, l31 * l10 - l30 - l32 * w20, l32 * l21 - l31, -l32


@fast_kernel
def _eliminate(matrix: FloatArray, error: FloatArray, pivot: FloatArray, rows: FloatArray, k: int) -> None:
    """Eliminates variables k to k + 3 from those after them, in place, and from the errors.

    With A = L D Lᵀ, a row that is done holds its part of L⁻¹, but for the diagonal's 1. Four variables and two rows at
    a time: six loads feed eight multiply-adds.
    """
    N = matrix.shape[0]
    w10, w20, w21, w30, w31, w32 = factor(matrix, pivot, k)
    d0, d1, d2, d3 = pivot[k], pivot[k + 1], pivot[k + 2], pivot[k + 3]
    c0, c1, c2, c3 = rows[0], rows[1], rows[2], rows[3]
    r0, r1, r2, r3 = matrix[k], matrix[k + 1], matrix[k + 2], matrix[k + 3]
    for j in range(k):
        x0, x1, x2, x3 = r0[j], r1[j], r2[j], r3[j]
        c0[j], c1[j], c2[j] = x0, x1 + w10 * x0, x2 + w21 * x1 + w20 * x0
        c3[j] = x3 + w32 * x2 + w31 * x1 + w30 * x0
    for j in range(4):
        c0[k + j], c1[k + j], c2[k + j], c3[k + j] = 0.0, 0.0, 0.0, 0.0
    c0[k], c1[k], c2[k], c3[k] = 1.0, w10, w20, w30
    c1[k + 1], c2[k + 1], c3[k + 1] = 1.0, w21, w31
    c2[k + 2], c3[k + 2], c3[k + 3] = 1.0, w32, 1.0
    for j in range(k + 3):
        r1[j], r2[j], r3[j] = c1[j], c2[j], c3[j]
    e0, e1, e2, e3 = error[k], error[k + 1], error[k + 2], error[k + 3]
    e1, e2, e3 = e1 + w10 * e0, e2 + w21 * e1 + w20 * e0, e3 + w32 * e2 + w31 * e1 + w30 * e0
    error[k + 1], error[k + 2], error[k + 3] = e1, e2, e3
    for i in range(k + 4, N):
        row = matrix[i, k : k + 4]
        x0, x1, x2, x3 = row[0], row[1], row[2], row[3]
        c0[i], c1[i], c2[i] = x0, x1 + w10 * x0, x2 + w21 * x1 + w20 * x0
        c3[i] = x3 + w32 * x2 + w31 * x1 + w30 * x0
        row[0], row[1], row[2], row[3] = 0.0, 0.0, 0.0, 0.0
    for i in range(k + 4, N, 2):
        f0, f1, f2, f3 = c0[i] / d0, c1[i] / d1, c2[i] / d2, c3[i] / d3
        g0, g1, g2, g3 = c0[i + 1] / d0, c1[i + 1] / d1, c2[i + 1] / d2, c3[i + 1] / d3
        error[i] -= f0 * e0 + f1 * e1 + f2 * e2 + f3 * e3
        error[i + 1] -= g0 * e0 + g1 * e1 + g2 * e2 + g3 * e3
        n = ((i + 1) // _LANES + 1) * _LANES
        first, second = matrix[i, :n], matrix[i + 1, :n]
        h0, h1, h2, h3 = rows[0, :n], rows[1, :n], rows[2, :n], rows[3, :n]
        for j in range(n):
            first[j] -= f0 * h0[j] + f1 * h1[j] + f2 * h2[j] + f3 * h3[j]
            second[j] -= g0 * h0[j] + g1 * h1[j] + g2 * h2[j] + g3 * h3[j]


@fast_kernel
def _fill_inverse(work: Scratch) -> None:
    """The lower triangle of the inverse of the covariance, after elimination."""
    matrix, inverse = work.matrix, work.inverse
    inverse[:] = 0.0
    for i in range(len(inverse)):
        matrix[i, i] = 1.0
        for m in range(i + 1):
            share = matrix[i, m] / work.pivot[i]
            row, to = matrix[i, : m + 1], inverse[m, : m + 1]
            for n in range(m + 1):
                to[n] += share * row[n]


@fast_kernel
def leave_block_out(work: Scratch, members: NDArray[np.int64]) -> tuple[float, float]:
    """The residual of an observation given those outside a block around it, and its variance, after `leave_one_out`.

    A block of the covariance's inverse, inverted, is the covariance of that block given the rest: by the factor of a
    Cholesky decomposition, in which the observation is last.

    Args:
        work: with blocks.
        members: (B,) of the block, the observation itself first.
    """
    B, inverse = members.size, work.inverse
    lower, white = np.empty((B, B)), np.empty(B)
    for i in range(B):
        a = members[B - 1 - i]
        white[i] = work.solved[a]
        for j in range(i + 1):
            b = members[B - 1 - j]
            total = inverse[max(a, b), min(a, b)]
            for m in range(j):
                total -= lower[i, m] * lower[j, m]
            lower[i, j] = math.sqrt(total) if i == j else total / lower[j, j]
        for m in range(i):
            white[i] -= lower[i, m] * white[m]
        white[i] /= lower[i, i]
    last = lower[B - 1, B - 1]
    return white[B - 1] / last, 1.0 / (last * last)

"""Linear algebra of covariances: batched inverses, leave-one-out residuals in closed form and their density.

Inverses come from a kernel of our own: LAPACK's threads would compete over matrices this small. On a machine that is
busy with other things, as a robot's is, that made the gate four times slower than one thread alone.
"""

import math
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.runtime.jit import fast_kernel
from mrac.runtime.parallel import for_each_span

_WORTH_A_THREAD: Final = 10_000_000  # multiplications, some 2 ms


def invert(total_SKK: FloatArray) -> FloatArray:
    """The inverses, in place, of S symmetric positive definite matrices; only their lower triangles are read."""
    S, K = total_SKK.shape[:2]
    if S * K**3 < _WORTH_A_THREAD:
        _invert(total_SKK)
    else:
        for_each_span(S, lambda first, last: _invert(total_SKK[first:last]))
    return total_SKK


def leave_one_out(inverse_SKK: FloatArray, error_SK: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(S, K) residual of each observation given all the others, its variance, and inverse · error.

    From the inverse of the covariance (Rasmussen & Williams 2006, eqs. 5.10–5.12).
    """
    var = 1.0 / np.diagonal(inverse_SKK, axis1=1, axis2=2)
    solved = (inverse_SKK @ error_SK[:, :, None])[:, :, 0]
    return solved * var, var, solved


def student_t_log_density(error: FloatArray, var: FloatArray, dof: float) -> FloatArray:
    """Log density of Student's t with `dof` > 2 degrees of freedom, scaled to have the variance `var`; all broadcast.

    Leave-one-out residuals of inliers have longer tails than a Gaussian's.
    """
    scale2 = var * ((dof - 2.0) / dof)
    constant = math.lgamma(0.5 * (dof + 1.0)) - math.lgamma(0.5 * dof) - 0.5 * math.log(math.pi * dof)
    return np.asarray(constant - 0.5 * np.log(scale2) - 0.5 * (dof + 1.0) * np.log1p(error**2 / (dof * scale2)))


@fast_kernel
def _sweep(a: FloatArray) -> None:
    """Exchanges each variable for its residual, one after the other (Beaton 1964), in the lower triangle."""
    K = a.shape[0]
    column = np.empty(K)
    for k in range(K):
        pivot = 1.0 / a[k, k]
        for j in range(k):
            column[j] = a[k, j]
        for i in range(k + 1, K):
            column[i] = a[i, k]
        column[k] = 0.0
        for i in range(K):
            f = column[i] * pivot
            row, others = a[i, : i + 1], column[: i + 1]
            for j in range(i + 1):
                row[j] -= f * others[j]
        for j in range(k):
            a[k, j] = column[j] * pivot
        for i in range(k + 1, K):
            a[i, k] = column[i] * pivot
        a[k, k] = -pivot
    for i in range(K):
        for j in range(i + 1):
            a[i, j] = -a[i, j]
            a[j, i] = a[i, j]


@fast_kernel
def _invert(total_SKK: FloatArray) -> None:
    for a in total_SKK:
        _sweep(a)

"""CUDA kernels of our own for many small covariances, compiled by NVRTC, which torch brings along.

cuSOLVER's and cuBLAS' batched routines take some 0.1 ms a call whatever the size; here a matrix of the gate stays in
the shared memory of one multiprocessor from beginning to end. `tests/mrac/gpu/test_kernels.py` runs the same source on
a CPU, thread by thread.
"""

from functools import cache
from typing import Any, Final

import torch
from torch import Tensor

THREADS: Final = 256
_WARP: Final = 32
MAX_SIZE: Final = 162  # of a matrix, as the fit has at most: 209 of the 227 kB of shared memory of an H100 or H200

PRELUDE: Final = "#define SHARED(type, name) extern __shared__ type name[]\n"
SOURCE: Final = r"""
// One block of threads inverts one matrix in shared memory: Gauss-Jordan without pivots, which symmetric positive
// definite matrices do not need. Rows are one number longer than they need be, so that columns lie in different banks.
// With `root`, rows are eliminated only below the pivot: what is left is L of A = L D L', inverted, and D on the
// diagonal, from which the inverse Cholesky factor follows.
extern "C" __global__ void invert(const double* in, double* out, int K, int root) {
    SHARED(double, a);
    const int ld = K + 1;
    double* column = a + K * ld;
    double* row = column + K;
    const int lane = threadIdx.x & 31, first = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const long long start = (long long)blockIdx.x * K * K;
    for (int i = first; i < K; i += warps)
        for (int j = lane; j < K; j += 32) a[i * ld + j] = in[start + i * K + j];
    __syncthreads();
    for (int k = 0; k < K; ++k) {
        for (int i = threadIdx.x; i < K; i += blockDim.x) {
            column[i] = a[i * ld + k];
            row[i] = a[k * ld + i];
        }
        __syncthreads();
        const double pivot = 1.0 / row[k];
        for (int i = first; i < K; i += warps) {
            if (root && i <= k) continue;
            const double f = column[i] * pivot;
            for (int j = lane; j < K; j += 32) {
                double v;
                if (i == k) v = j == k ? pivot : row[j] * pivot;
                else v = j == k ? -f : a[i * ld + j] - f * row[j];
                a[i * ld + j] = v;
            }
        }
        __syncthreads();
    }
    for (int i = first; i < K; i += warps) {
        const double scale = root ? rsqrt(a[i * ld + i]) : 1.0;
        for (int j = lane; j < K; j += 32) {
            double v = a[i * ld + j] * scale;
            if (root && j >= i) v = j == i ? scale : 0.0;
            out[start + i * K + j] = v;
        }
    }
}

// One warp takes one reading: the block of the inverse of its members, itself the last, and their part of
// inverse * error. After forward elimination the last row holds 1 / variance and residual / variance.
extern "C" __global__ void leave_out(
    const double* inverse, const double* solved, const long long* members, const unsigned char* there,
    const unsigned char* wanted, double* residual, double* var, int S, int D, int M, int K) {
    SHARED(double, a);
    const int lane = threadIdx.x, ld = M + 1;
    const long long d = blockIdx.x % D, hypothesis = blockIdx.x / D, q = hypothesis / S;
    if (!wanted[q * D + d]) {
        if (lane == 0) { residual[blockIdx.x] = 0.0; var[blockIdx.x] = 1.0; }
        return;
    }
    const long long* own = members + (q * D + d) * M;
    const unsigned char* meant = there + (q * D + d) * M;
    for (int i = lane; i < M * ld; i += 32) {
        const int r = i / ld, c = i % ld;
        double v = r == c ? 1.0 : 0.0;
        if (c == M) v = meant[r] ? solved[hypothesis * K + own[r]] : 0.0;
        else if (meant[r] && meant[c]) v = inverse[(hypothesis * K + own[r]) * K + own[c]];
        a[i] = v;
    }
    __syncwarp();
    for (int k = 0; k + 1 < M; ++k) {
        const double pivot = 1.0 / a[k * ld + k];
        const int height = M - 1 - k, width = M - k;
        for (int i = lane; i < height * width; i += 32) {
            const int r = k + 1 + i / width, c = k + 1 + i % width;
            a[r * ld + c] -= a[r * ld + k] * pivot * a[k * ld + c];
        }
        __syncwarp();
    }
    if (lane == 0) {
        const double pivot = 1.0 / a[(M - 1) * ld + M - 1];
        residual[blockIdx.x] = a[(M - 1) * ld + M] * pivot;
        var[blockIdx.x] = pivot;
    }
}
"""


@cache
def _kernel(name: str, shared_bytes: int) -> Any:
    compiled = torch.cuda._compile_kernel(PRELUDE + SOURCE, name)
    compiled.set_shared_memory_config(shared_bytes)
    return compiled


def invert_bytes(size: int) -> int:
    """Shared memory that `invert` needs for matrices of `size`."""
    return 8 * (size * (size + 1) + 2 * size)


@torch.library.custom_op("mrac::invert", mutates_args=())
def invert(total: Tensor, root: bool) -> Tensor:
    """(..., K, K) float64 inverses of symmetric positive definite matrices, K up to `MAX_SIZE`.

    With `root`, the lower triangular W of each, with Wᵀ W the inverse.
    """
    total = total.contiguous()
    out, K = torch.empty_like(total), total.shape[-1]
    kernel = _kernel("invert", invert_bytes(K))
    kernel((total.numel() // (K * K), 1, 1), (THREADS, 1, 1), [total, out, K, int(root)], invert_bytes(K))
    return out


@invert.register_fake
def _(total: Tensor, root: bool) -> Tensor:
    return torch.empty_like(total, memory_format=torch.contiguous_format)


@torch.library.custom_op("mrac::leave_out", mutates_args=())
def leave_out(inverse: Tensor, solved: Tensor, members: Tensor, there: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """(Q, S, D) residuals and variances as `linear_algebra.Blocks.leave_out`; 0 and 1 where none is `wanted` (Q, D)."""
    (Q, S, K), (D, M) = solved.shape, members.shape[1:]
    residual, var = (torch.empty((Q, S, D), dtype=solved.dtype, device=solved.device) for _ in range(2))
    given = [part.contiguous() for part in (inverse, solved, members, there, wanted)]
    size = 8 * M * (M + 1)
    kernel = _kernel("leave_out", size)
    kernel((Q * S * D, 1, 1), (_WARP, 1, 1), [*given, residual, var, S, D, M, K], size)
    return residual, var


@leave_out.register_fake
def _(inverse: Tensor, solved: Tensor, members: Tensor, there: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    shape = (*solved.shape[:2], members.shape[1])
    return solved.new_empty(shape), solved.new_empty(shape)

"""Distances, covariances and predictions of a Gaussian process: see `mrac.gpu.process` and `mrac.gpu.tiles`."""

from typing import Final, Literal

import torch
from torch import Tensor

from mrac.gp.kernel import BIAS_VAR, FINE, FINE_VAR, SQRT3
from mrac.gpu.kernels.source import SHARED_BYTES, Source, start

_FILE: Final = "process.cu"
_KERNEL: Final = {"SQRT3": SQRT3, "FINE": FINE, "FINE_VAR": FINE_VAR, "BIAS_VAR": BIAS_VAR}
_THREADS: Final = 256
_ROWS: Final = 8  # of the whitener at a time


def pairs(a: Tensor, b: Tensor, of_distance: Literal["covariance_at", ""]) -> Tensor:
    """(Q, n, m) distances of points (Q, n, F) and (Q, m, F), or what a function of `process.cu` makes of them."""
    (Q, N, F), M = a.shape, b.shape[1]
    out = a.new_empty((Q, N, M))
    number = "double" if a.dtype == torch.float64 else "float"
    source = Source.of(_FILE, "pairs", {**_KERNEL, "FEATURES": F, "NUMBER": number, "OF_DISTANCE": of_distance})
    start(source, (-(-out.numel() // _THREADS), _THREADS, 0), [a, b], [out], [N, M, out.numel()])
    return out


def predict(
    nodes_QNF: Tensor, features_QMF: Tensor, there_QM: Tensor, weights: Tensor, whitener: Tensor
) -> list[Tensor]:
    """(Q, N) mean and explained variance, as `mrac.gpu.tiles.predict`, for up to `kriging.MAX_EXACT` readings M."""
    (Q, N, F), M = nodes_QNF.shape, features_QMF.shape[1]
    threads = next(n for n in (128, 64, 32) if shared_bytes(M, F, n) <= SHARED_BYTES // (2 if n > 32 else 1))
    blocks = -(-N // (2 * threads))
    source = Source.of(_FILE, "predict", {**_KERNEL, "FEATURES": F, "ROWS": _ROWS})
    written = [nodes_QNF.new_empty((Q, N)) for _ in range(2)]
    size = shared_bytes(M, F, threads)
    read = [nodes_QNF, features_QMF, there_QM, weights, whitener]
    start(source, (Q * blocks, threads, size), read, written, [N, M, blocks])
    return written


def shared_bytes(num: int, num_features: int, threads: int) -> int:
    """Shared memory of a block of `predict`, for processes of `num` readings."""
    padded = -(-num // 4) * 4
    return 4 * padded * (_ROWS + num_features + 1 + 2 * threads)

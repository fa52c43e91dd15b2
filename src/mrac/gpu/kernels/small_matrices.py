"""Inverses of many small covariances at once, each in the registers of one block of threads.

cuSOLVER's and cuBLAS' batched routines take some 0.1 ms a call whatever the size.
"""

from typing import Final, NamedTuple

import torch
from torch import Tensor

from mrac.gpu.kernels.source import Source, start


class Tiling(NamedTuple):
    """How a matrix is spread over threads: `grid` · `grid` of them, with `tile` · `tile` numbers each."""

    grid: int
    tile: int

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.grid * self.grid

    @property
    def space(self) -> int:
        """Numbers of shared memory that an elimination needs: TILE_SPACE of `common.cuh`."""
        return 4 * self.grid * self.tile + 2

    @property
    def constants(self) -> dict[str, int]:
        """As macros."""
        return {"GRID": self.grid, "TILE": self.tile}


_TILINGS: Final = (Tiling(8, 2), Tiling(8, 4), Tiling(16, 4), Tiling(24, 6), Tiling(24, 7))
MAX_SIZE: Final = max(tiling.grid * tiling.tile for tiling in _TILINGS)


def tiling_of(size: int) -> Tiling:
    """For matrices of so many rows, up to `MAX_SIZE`."""
    return next(tiling for tiling in _TILINGS if tiling.grid * tiling.tile >= size)


def invert(total: Tensor, root: bool) -> Tensor:
    """(..., K, K) float64 inverses of symmetric positive definite matrices, K up to `MAX_SIZE`.

    With `root`, the lower triangular W of each, with Wᵀ W the inverse.
    """
    K = total.shape[-1]
    out, tiling = torch.empty_like(total, memory_format=torch.contiguous_format), tiling_of(K)
    source = Source.of("small_matrices.cu", "invert", tiling.constants)
    start(source, (total.numel() // (K * K), tiling.threads, 8 * tiling.space), [total], [out], [K, int(root)])
    return out

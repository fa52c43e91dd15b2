"""Bilinear upsampling from the nodes of a grid to the pixels between them."""

import numpy as np
from numpy.typing import NDArray

from mrac.runtime.jit import fast_kernel


def upsampled(nodes: NDArray[np.float32], step: int, top: int, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Bilinear upsampling of nodes (rows, columns) at every `step`th pixel to `shape` (n, W) pixels from row `top`."""
    if step == 1:
        return nodes[top : top + shape[0]]
    out = np.empty(shape, np.float32)
    _upsample(nodes, step, top, out)
    return out


@fast_kernel
def _upsample(nodes: NDArray[np.float32], step: int, top: int, out: NDArray[np.float32]) -> None:
    rows, columns = nodes.shape
    share = np.float32(1.0) / np.float32(step)
    between = np.empty(columns + 1, np.float32)
    for v in range(out.shape[0]):
        above = min((top + v) // step, rows - 1)
        upper, lower = nodes[above], nodes[min(above + 1, rows - 1)]
        down = np.float32((top + v) - above * step) * share
        for c in range(columns):
            between[c] = upper[c] + (lower[c] - upper[c]) * down
        between[columns] = between[columns - 1]
        row = out[v]
        for left in range(-(-row.size // step)):
            first = between[left]
            rise = (between[left + 1] - first) * share
            for k in range(min(step, row.size - left * step)):
                row[left * step + k] = first + rise * np.float32(k)

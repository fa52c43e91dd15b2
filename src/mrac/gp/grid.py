"""From the nodes of a grid back to pixels."""

import numpy as np
from numpy.typing import NDArray

from mrac.runtime.jit import fast_kernel


def enlarged(nodes: NDArray[np.float32], step: int, top: int, shape: tuple[int, int]) -> NDArray[np.float32]:
    """`shape` (n, W) pixels from row `top` on, bilinearly between (rows, columns) nodes at every `step`th pixel."""
    if step == 1:
        return nodes[top : top + shape[0]]
    out = np.empty(shape, np.float32)
    _enlarge(nodes, step, top, out)
    return out


@fast_kernel
def _enlarge(nodes: NDArray[np.float32], step: int, top: int, out: NDArray[np.float32]) -> None:
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
        for u in range(row.size):
            left = min(u // step, columns - 1)
            row[u] = between[left] + (between[left + 1] - between[left]) * np.float32(u - left * step) * share

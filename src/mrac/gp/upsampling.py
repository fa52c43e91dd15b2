"""Bilinear upsampling from the nodes of a grid to the pixels between them."""

import numpy as np
from numpy.typing import NDArray

from mrac.runtime.jit import fast_kernel


@fast_kernel
def upsample_row(
    nodes: NDArray[np.float32], step: int, v: int, between: NDArray[np.float32], row: NDArray[np.float32]
) -> None:
    """Bilinear upsampling of nodes (rows, columns) at every `step`th pixel, to the pixels of the image's row `v`.

    Args:
        nodes: (rows, columns).
        step: pixels between them.
        v: of the row.
        between: (columns + 1,), overwritten.
        row: (W,), overwritten.
    """
    rows, columns = nodes.shape
    share = np.float32(1.0) / np.float32(step)
    above = min(v // step, rows - 1)
    upper, lower = nodes[above], nodes[min(above + 1, rows - 1)]
    down = np.float32(v - above * step) * share
    for c in range(columns):
        between[c] = upper[c] + (lower[c] - upper[c]) * down
    between[columns] = between[columns - 1]
    for left in range(-(-row.size // step)):
        first = between[left]
        rise = (between[left + 1] - first) * share
        for k in range(min(step, row.size - left * step)):
            row[left * step + k] = first + rise * np.float32(k)

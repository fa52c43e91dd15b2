"""Membrane interpolation of weighted values on a grid: the integration step of OMNI-DC (Zuo et al. 2025)."""

from typing import Final

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from mrac.conventions import FloatArray

_TOLERANCE: Final = 1e-6


def sum_over_cells(
    uv_px: FloatArray, shape: tuple[int, int], grid: tuple[int, int], *values: FloatArray
) -> tuple[FloatArray, ...]:
    """Sums of scattered values in each cell of a grid.

    Args:
        uv_px: (K, 2) pixels of an image.
        shape: (H, W) of the image.
        grid: (h, w) cells that cover it.
        *values: (K,) each.

    Returns:
        One (h, w) float64 per entry of `values`.
    """
    (H, W), (h, w) = shape, grid
    column, row = np.floor((uv_px + 0.5) * [w / W, h / H]).clip(0, [w - 1, h - 1]).astype(np.intp).T
    sums = (np.bincount(row * w + column, weights=one, minlength=h * w) for one in values)
    return tuple(one.astype(np.float64).reshape(grid) for one in sums)


def membrane(values: FloatArray, weight: FloatArray, down: FloatArray, right: FloatArray) -> tuple[FloatArray, str]:
    """The field c that minimises Σ stiffness · (c_i − c_j)² + Σ weight · (c − values)², by conjugate gradients.

    Args:
        values: (h, w).
        weight: (h, w) >= 0, somewhere > 0.
        down: (h - 1, w) stiffness between each cell and the one below it, > 0.
        right: (h, w - 1) the same for the one to its right.

    Returns:
        (h, w) and a status: `ok`, or `not_converged`.
    """
    cells = np.arange(values.size).reshape(values.shape)
    stiffness = np.concatenate([down.ravel(), right.ravel()])
    one = np.concatenate([cells[:-1].ravel(), cells[:, :-1].ravel()])
    other = np.concatenate([cells[1:].ravel(), cells[:, 1:].ravel()])
    between = sparse.coo_array((stiffness, (one, other)), shape=(values.size, values.size)).tocsr()
    between = between + between.T
    diagonal = between.sum(axis=1) + weight.ravel()
    system = sparse.diags_array(diagonal, format="csr") - between
    scaled = sparse.diags_array(1.0 / diagonal, format="csr")
    start = np.full(values.size, np.average(values, weights=weight))
    solution, failed = linalg.cg(
        system, (weight * values).ravel(), x0=start, rtol=_TOLERANCE, maxiter=20 * values.size, M=scaled
    )
    return solution.reshape(values.shape), "ok" if failed == 0 else "not_converged"

"""Points that a range sensor sees past an edge which hides them from the camera beside it ("see-through" points).

The two look from different places, so that points behind an object fall onto it in the image. Such a point has nearer
ones beside it or above it. The ground, where depth falls from row to row too, has nearer ones below alone: so the
window that is searched reaches far up and hardly down (the image is upright). Its size goes with the spacing of the
points.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray
from mrac.runtime.jit import kernel

# Chosen on the 41 frames of train/kitti15 (`python -m mrac.lab.studies.occlusion`); lengths in spacings of the points.
BESIDE: Final = 1.45
ABOVE: Final = 3.05
BELOW: Final = 0.93
RATIO: Final = 1.12  # a point is hidden by one nearer than this
_NEIGHBOURS: Final = 8
_SAMPLE: Final = 2000  # points whose neighbours are measured for the spacing
_SEED: Final = 0


def occluded(
    uv_px: FloatArray,
    z_m: FloatArray,
    max_spacing_px: float = math.inf,
    *,
    beside: float = BESIDE,
    above: float = ABOVE,
    below: float = BELOW,
    ratio: float = RATIO,
) -> BoolArray:
    """Which points lie behind what the camera sees at their pixel.

    Args:
        uv_px: (K, 2) finite positions, at most one per pixel.
        z_m: (K,) depths > 0 in metres.
        max_spacing_px: the window is no larger than for points so far apart: where points are few, nearer ones at a
            distance say nothing.
        beside: half width of the window, in spacings.
        above: its reach up.
        below: its reach down.
        ratio: a point is occluded where the window holds one of less than z / ratio.

    Returns:
        (K,), whether each is occluded.
    """
    if z_m.size <= _NEIGHBOURS:
        return np.zeros(z_m.size, np.bool_)
    unit = min(spacing_px(uv_px), max_spacing_px)
    left_up = uv_px.min(axis=0)
    size = unit * np.array([beside, max(above, below)])
    column, row = ((uv_px - left_up) // size).astype(np.intp).T
    cell = row * (int(column.max()) + 1) + column
    order = np.argsort(cell, kind="stable")
    num_cells = (int(row.max()) + 1) * (int(column.max()) + 1)
    start = np.searchsorted(cell[order], np.arange(num_cells + 1))
    reach = unit * np.array([beside, above, below])
    found = _has_nearer(uv_px[order], z_m[order], start, int(column.max()) + 1, cell[order], reach, ratio)
    result = np.empty(z_m.size, np.bool_)
    result[order] = found
    return result


def spacing_px(uv_px: FloatArray) -> float:
    """The distance between neighbouring points, had they the same density on a square grid: the median over points.

    Args:
        uv_px: (K, 2), K > 8.
    """
    from scipy.spatial import KDTree  # noqa: PLC0415  (a tenth of a second to import)

    sample = uv_px
    if len(uv_px) > _SAMPLE:
        sample = np.random.default_rng(_SEED).choice(uv_px, _SAMPLE, replace=False)
    distance, _ = KDTree(uv_px).query(sample, k=[_NEIGHBOURS + 1])  # the first is the point itself
    return max(1.0, float(np.median(distance)) * math.sqrt(math.pi / _NEIGHBOURS))


@kernel
def _has_nearer(
    uv: FloatArray,
    z: FloatArray,
    start: NDArray[np.intp],
    num_columns: int,
    cell: NDArray[np.intp],
    reach: FloatArray,
    ratio: float,
) -> BoolArray:
    """Whether the window of each point holds one of less than z / ratio.

    Args:
        uv: (K, 2) by cell.
        z: (K,).
        start: (cells + 1,) the first point of each cell, row by row; a cell is as large as the window's reach.
        num_columns: of cells.
        cell: (K,).
        reach: beside, above, below, in pixels.
        ratio: > 1.
    """
    found = np.zeros(z.size, np.bool_)
    num_rows = (start.size - 1) // num_columns
    for i in range(z.size):
        row, column = cell[i] // num_columns, cell[i] % num_columns
        nearer = z[i] / ratio
        for r in range(max(row - 1, 0), min(row + 2, num_rows)):
            first = start[r * num_columns + max(column - 1, 0)]
            last = start[r * num_columns + min(column + 2, num_columns)]
            for j in range(first, last):
                down = uv[j, 1] - uv[i, 1]
                if z[j] < nearer and abs(uv[j, 0] - uv[i, 0]) <= reach[0] and -reach[1] <= down <= reach[2]:
                    found[i] = True
                    break
            if found[i]:
                break
    return found

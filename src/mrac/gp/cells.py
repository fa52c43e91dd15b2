"""Features of pixels from the cells of an image: bilinear upsampling where a pixel is asked for, compiled."""

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.gp.kernel import FARTHEST
from mrac.runtime.jit import kernel


@kernel
def _between(at_px: int, size: int, num_cells: int) -> tuple[int, int, np.float32]:
    """The cells before and after the centre of a pixel along one axis of `size` pixels, and its way between them."""
    at = min(max((at_px + 0.5) * (num_cells / size) - 0.5, 0.0), num_cells - 1.0)
    before = int(at)
    return before, min(before + 1, num_cells - 1), np.float32(at - before)


@kernel
def fill_band(
    cells: NDArray[np.float32],
    shape: tuple[int, int],
    step: int,
    top: int,
    position: np.float32,
    points: NDArray[np.float32],
) -> None:
    """Position, colour and region of the nodes of rows from `top` on, into `points` (NUM_FEATURES, rows, columns)."""
    H, W = shape
    _, num_rows, num_columns = points.shape
    row = np.empty(cells.shape[2], np.float32)
    before, after = np.empty(num_columns, np.int64), np.empty(num_columns, np.int64)
    share = np.empty(num_columns, np.float32)
    for c in range(num_columns):
        before[c], after[c], share[c] = _between(min(step * c, W - 1), W, cells.shape[2])
    for r in range(num_rows):
        v = step * (top + r)
        above, below, down = _between(min(v, H - 1), H, cells.shape[1])
        for c in range(num_columns):
            points[0, r, c] = np.float32(step * c) * position
            points[1, r, c] = np.float32(v) * position
        for f in range(cells.shape[0]):
            upper, lower, out = cells[f, above], cells[f, below], points[2 + f, r]
            for c in range(row.size):
                row[c] = upper[c] * (np.float32(1.0) - down) + lower[c] * down
            for c in range(num_columns):
                out[c] = row[before[c]] * (np.float32(1.0) - share[c]) + row[after[c]] * share[c]


@kernel
def fill_readings(
    cells: NDArray[np.float32], shape: tuple[int, int], uv_px: FloatArray, readings: NDArray[np.float32]
) -> None:
    """Colour and region at (K, 2) positions, read bilinearly between the pixels, into (K, NUM_FEATURES)."""
    H, W = shape
    for k in range(uv_px.shape[0]):
        u, v = min(max(uv_px[k, 0], 0.0), W - 1.0), min(max(uv_px[k, 1], 0.0), H - 1.0)
        first_u, first_v = min(int(u), max(W - 2, 0)), min(int(v), max(H - 2, 0))
        for i in range(2):
            above, below, down = _between(min(first_v + i, H - 1), H, cells.shape[1])
            for j in range(2):
                left, right, share = _between(min(first_u + j, W - 1), W, cells.shape[2])
                weight = (v - first_v if i else 1.0 - (v - first_v)) * (u - first_u if j else 1.0 - (u - first_u))
                for f in range(cells.shape[0]):
                    upper = cells[f, above, left] + (cells[f, above, right] - cells[f, above, left]) * share
                    lower = cells[f, below, left] + (cells[f, below, right] - cells[f, below, left]) * share
                    readings[k, 2 + f] += np.float32(weight * (upper + (lower - upper) * down))


@kernel
def scale_into(
    field: FloatArray, step: int, top: int, origin: float, per_length: float, out: NDArray[np.float32]
) -> None:
    """Writes (field − origin) · per_length at the nodes of rows from `top` on into `out` (rows, columns).

    Within ±FARTHEST, whatever the size of the values.
    """
    H, W = field.shape
    for r in range(out.shape[0]):
        values, row = field[min(step * (top + r), H - 1)], out[r]
        for c in range(row.size):
            scaled = (np.float64(values[min(step * c, W - 1)]) - origin) * per_length
            row[c] = np.float32(min(max(scaled, -FARTHEST), FARTHEST))

"""VI-Depth's global alignment: the least-squares line from relative to metric inverse depth over all readings."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.runtime.parallel import row_bands
from mrac.vi_depth.ranges import Ranges


@dataclass(frozen=True, eq=False)
class PixelReadings:
    """Readings as VI-Depth uses them: at most one per pixel, row by row.

    Attributes:
        uv_px: (K, 2) whole pixels inside the image, u right and v down, all different.
        inv_z_per_m: (K,) float32 inverse depth, finite and > 0.
    """

    uv_px: NDArray[np.intp]
    inv_z_per_m: NDArray[np.float32]

    def __len__(self) -> int:
        return self.inv_z_per_m.size

    def at(self, values: FloatArray) -> FloatArray:
        """(K,) the values of an (H, W) map at the readings."""
        return values[self.uv_px[:, 1], self.uv_px[:, 0]]


@dataclass(frozen=True, eq=False)
class Alignment:
    """The line inv_z = scale · x + shift, and the aligned map.

    Attributes:
        scale: slope; of either sign, since VI-Depth does not check it.
        shift: intercept, 1/m.
        inv_z_per_m: (H, W) float32, finite, within the predicted range.
        status: `ok`; `constant_relative_depth` if there is no line (no reading, one, or all on one relative value).
            Scale and shift are then 0 and the map is at the far limit everywhere, as in VI-Depth.
    """

    scale: float
    shift: float
    inv_z_per_m: FloatArray
    status: str = "ok"


def readings_on_pixels(uv_px: FloatArray, z_m: FloatArray, shape: tuple[int, int], ranges: Ranges) -> PixelReadings:
    """The readings within the range, each moved to its pixel.

    Of several in one pixel the nearest is kept, as in any depth image made by projecting points: it hides the others.

    Args:
        uv_px: (K, 2) positions inside the image; sub-pixel ones are rounded.
        z_m: (K,) metres; what is NaN or not strictly within the range is dropped.
        shape: (H, W).
        ranges: the range of readings.

    Raises:
        ContractError: a position lies outside the image.
    """
    H, W = shape
    pixel = np.floor(uv_px + 0.5)
    # The sum above can round up to the next pixel only at the last bit before it; anything further off is an error.
    if not (np.isfinite(pixel).all() and (pixel >= 0).all() and (uv_px <= np.array([W, H]) - 0.5).all()):
        raise ContractError(f"vi_depth: all of uv_px must lie inside the image of {W} × {H} pixels")
    u, v = np.minimum(pixel, np.array([W, H]) - 1).astype(np.intp).T
    with np.errstate(over="ignore"):  # beyond single precision is beyond the range
        z = z_m.astype(np.float32)  # first, since a sparse depth map is float32 and the bounds are strict
    counts = (z > np.float32(ranges.min_depth_m)) & (z < np.float32(ranges.max_depth_m))
    u, v, z = u[counts], v[counts], z[counts]
    order = np.argsort(z, kind="stable")
    _, first = np.unique((v * W + u)[order], return_index=True)
    chosen = order[first]
    return PixelReadings(np.stack([u[chosen], v[chosen]], axis=1), np.float32(1.0) / z[chosen])


def align(relative: FloatArray, readings: PixelReadings, ranges: Ranges) -> Alignment:
    """Fits the line to all readings with equal weight, no outlier rejected, and applies it to every pixel.

    Args:
        relative: (H, W) relative inverse depth, finite; larger is nearer.
        readings: K of them.
        ranges: the limits of the map.
    """
    x, y = readings.at(relative).astype(np.float64), readings.inv_z_per_m.astype(np.float64)
    # The determinant of the normal equations is zero exactly if all x are equal; computed, it is rounding noise.
    flat = x.size == 0 or bool(x.min() == x.max())
    scale, shift = (0.0, 0.0) if flat else _line(x, y)
    aligned = np.empty(relative.shape, np.float32)
    for rows in row_bands(0, relative.shape[0]):
        aligned[rows] = np.clip(relative[rows].astype(np.float64) * scale + shift, *ranges.inv_limits_per_m)
    return Alignment(scale, shift, aligned, "constant_relative_depth" if flat else "ok")


def _line(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """Slope and intercept of the least-squares line through (K,) points, not all x equal."""
    x_mean, y_mean = x.mean(), y.mean()
    # In units of the spread: squares of relative values below 1e-160 would vanish.
    spread = np.abs(x - x_mean).max()
    offset = (x - x_mean) / spread
    scale = float(offset @ (y - y_mean) / (offset @ offset) / spread)
    return scale, float(y_mean - scale * x_mean)

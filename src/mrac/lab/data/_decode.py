"""Depth as files store it, brought to the house conventions."""

from pathlib import Path

import numpy as np

from mrac.anchors import Anchors
from mrac.conventions import FloatArray
from mrac.io.files import read_png16


def invalid_as_nan(z_m: FloatArray) -> FloatArray:
    """Metres as float32, NaN where a value is not finite or not > 0."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(z_m) & (z_m > 0), z_m, np.nan).astype(np.float32)


def read_depth_png(path: Path, per_metre: float) -> FloatArray:
    """(H, W) float32 metres of a 16-bit PNG, value / `per_metre`; 0 where there is none."""
    stored, _ = read_png16(path)
    return np.asarray(stored / per_metre, np.float32)


def map_readings(z_m: FloatArray, shape: tuple[int, int]) -> Anchors:
    """The valid pixels of a sensor's map (h, w) as readings in an image (H, W) of the same field of view."""
    v, u = np.nonzero(np.isfinite(z_m) & (z_m > 0))
    (h, w), (H, W) = z_m.shape, shape
    # Pixel centres lie at integers: the edges -0.5 and w - 0.5 of both grids coincide.
    uv_px = np.stack([(u + 0.5) * (W / w) - 0.5, (v + 0.5) * (H / h) - 0.5], axis=1)
    return Anchors(uv_px, z_m[v, u])

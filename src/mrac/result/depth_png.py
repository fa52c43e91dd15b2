"""Depth as a 16-bit PNG in the scales that data sets and cameras use."""

from pathlib import Path

import numpy as np
from PIL import Image

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.io.files import scale_text, write_depth_png, write_whole
from mrac.units import DEPTH_SCALES


def write_png(path: Path, depth_m: FloatArray, name: str | None = None) -> None:
    """Writes depth (H, W) in metres as a 16-bit PNG, value = round(depth · scale), the scale stated in its text.

    Args:
        path: of the file.
        depth_m: finite and > 0.
        name: of the format, one of `DEPTH_SCALES`: depth that 16 bits cannot hold at its scale (beyond 65.5 m in mm,
            13.1 m in tum, 256 m in kitti) becomes 0, "no depth". By default the scale is chosen so that all fits
            (`write_depth_png`).

    Raises:
        ContractError: there is no such format.
    """
    if name is None:
        write_depth_png(path, depth_m)
        return
    if name not in DEPTH_SCALES:
        raise ContractError(f"save: no PNG format {name!r}; one of {', '.join(DEPTH_SCALES)} is needed")
    scale = DEPTH_SCALES[name]
    steps = np.rint(depth_m * np.float64(scale))
    stored = np.where(steps > 65535, 0, np.maximum(steps, 1)).astype(np.uint16)
    write_whole(path, lambda file: Image.fromarray(stored).save(file, format="PNG", pnginfo=scale_text(scale)))

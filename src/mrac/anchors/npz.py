"""Anchors from an .npz file: `uv_px` (K, 2) and `z_m` (K,), optionally the other attributes of `Anchors`."""

from pathlib import Path

from mrac.anchors._stored import Stored
from mrac.io.arrays import read_arrays


def read(path: Path) -> Stored:
    """Reads the arrays of an `Anchors`.

    Raises:
        ContractError: the file is missing or broken, or lacks an array.
    """
    arrays = read_arrays(path, needed=("uv_px", "z_m"), optional=("sigma_m", "extent_px", "confidence", "flag"))
    return Stored(
        arrays["uv_px"],
        arrays["z_m"],
        arrays.get("sigma_m"),
        extent_px=arrays.get("extent_px"),
        confidence=arrays.get("confidence"),
        flag=arrays.get("flag"),
    )

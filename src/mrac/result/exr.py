"""Depth and its standard deviation as an OpenEXR file with the channels Z and sigma, float32 metres."""

from pathlib import Path

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import MissingExtra
from mrac.io.files import write_whole


def write_exr(path: Path, depth_m: FloatArray, sigma_m: FloatArray) -> None:
    """Writes (H, W) `depth_m` as channel `Z`, OpenEXR's name for depth, and `sigma_m` as `sigma`, without loss.

    Raises:
        MissingExtra: OpenEXR is not installed.
    """
    try:
        import OpenEXR  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra("save to .exr", "sensors") from None
    channels = {name: np.ascontiguousarray(v, np.float32) for name, v in (("Z", depth_m), ("sigma", sigma_m))}
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    # OpenEXR writes to a name alone.
    write_whole(path, lambda file: OpenEXR.File(header, channels).write(file.name))

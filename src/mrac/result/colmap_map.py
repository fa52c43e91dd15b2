"""Depth as a dense map of COLMAP (`stereo/depth_maps/*.bin`)."""

from pathlib import Path

import numpy as np

from mrac.conventions import FloatArray
from mrac.io.files import write_whole


def write_colmap_map(path: Path, depth_m: FloatArray) -> None:
    """Writes (H, W) `depth_m`: width, height and 1 channel in text, each followed by `&`, then float32 row by row.

    COLMAP stores 0 for "no depth"; there is none here.
    """
    height, width = depth_m.shape
    content = f"{width}&{height}&1&".encode() + np.ascontiguousarray(depth_m, "<f4").tobytes()
    write_whole(path, lambda file: file.write(content))

"""Depth and its standard deviation as a TIFF of two pages, float32 metres."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from mrac.conventions import FloatArray
from mrac.io.files import write_whole

_DESCRIPTION = 270  # TIFF's tag ImageDescription


def write_tiff(path: Path, depth_m: FloatArray, sigma_m: FloatArray) -> None:
    """Writes (H, W) `depth_m` as the first page and `sigma_m` as the second, without loss."""
    depth, sigma = (Image.fromarray(np.ascontiguousarray(v, np.float32)) for v in (depth_m, sigma_m))
    about = {_DESCRIPTION: "page 1: depth_m, page 2: sigma_m; metres"}
    content = io.BytesIO()  # Pillow reads back what it wrote before it adds a page
    options: dict[str, Any] = {"compression": "tiff_deflate", "tiffinfo": about}
    depth.save(content, format="TIFF", save_all=True, append_images=[sigma], **options)
    write_whole(path, lambda file: file.write(content.getvalue()))

"""The official layouts of the data sets, written small: one file each, named as the data set that reads it.

`write(folder)` lays out a few frames in the exact encodings of the publisher and returns what must be read back.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image


@dataclass(frozen=True)
class Written:
    """What a frame holds: image (H, W, 3) uint8, truth (H, W) metres with NaN where there is none."""

    image: NDArray[np.uint8]
    truth_m: NDArray[np.floating[Any]]


def made(shape: tuple[int, int], seed: int, far_m: float = 9.0) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Noise, since nothing mirrored or turned looks like itself: an image, and depth that is 0 at a fifth of it."""
    rng = np.random.default_rng(seed)
    depth_m = rng.uniform(0.5, far_m, shape)
    depth_m[rng.random(shape) < 0.2] = 0.0
    return rng.integers(0, 256, (*shape, 3), dtype=np.uint8), depth_m


def save_image(path: Path, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Writes it, and returns what any reader gets: a JPEG is not what went in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path, compress_level=1)
    with Image.open(path) as stored:
        return np.asarray(stored.convert("RGB"))


def save_png16(path: Path, depth_m: NDArray[np.float64], per_metre: float) -> NDArray[np.float64]:
    """Writes value = round(metres · per_metre) in 16 bits, and returns the metres that are left of it, NaN for 0."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = np.rint(depth_m * per_metre).astype(np.uint16)
    Image.fromarray(stored).save(path, compress_level=1)
    return np.where(stored > 0, stored / per_metre, np.nan)

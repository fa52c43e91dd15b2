"""A pack with a manifest, of made scenes: what a benchmark needs, small enough to run hundreds of cells in a second."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.lab.layouts import save_image, save_png16

COLUMNS = "set,id,scene,rgb,gt,gt_scale,gt_offset,sensor,sensor_scale,sensor_offset,aux"
SHAPE = (36, 48)
WRONG_EVERY = 5
"""Of the readings in `sensor`, one in so many is 1.5 times too far."""


def scene(seed: int, shape: tuple[int, int] = SHAPE) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """A tilted floor with a box on it; no depth in the first column."""
    rng = np.random.default_rng(seed)
    H, W = shape
    v, u = np.mgrid[0:H, 0:W]
    depth_m = 2.0 + 3.0 * (H - v) / H + 0.5 * u / W + rng.uniform(0.0, 1.0)
    top, left = rng.integers(0, H // 2), rng.integers(1, W // 2)
    depth_m[top : top + H // 3, left : left + W // 3] = 1.5
    image = np.clip(np.stack([depth_m * 30, u * 255 / W, v * 255 / H], axis=2), 0, 255).astype(np.uint8)
    depth_m[:, 0] = 0.0
    return image, depth_m


def write_pack(folder: Path, **num_images: int) -> Path:
    """So many images of each set; each has a `sensor` map with wrong readings. Returns the folder."""
    rows = [COLUMNS]
    for set_name, number in num_images.items():
        for i in range(number):
            image, depth_m = scene(1000 * len(set_name) + i)
            files = [f"{set_name}/{i:04}{end}" for end in (".png", "_gt.png", "_sensor.png")]
            save_image(folder / files[0], image)
            save_png16(folder / files[1], depth_m, 1000.0)
            seen = depth_m.copy()
            seen.reshape(-1)[::WRONG_EVERY] *= 1.5
            save_png16(folder / files[2], seen, 1000.0)
            rows.append(f"{set_name},{i:04},place{i % 2},{files[0]},{files[1]},0.001,0,{files[2]},0.001,0,")
    (folder / "manifest.csv").write_text("\n".join(rows) + "\n")
    return folder

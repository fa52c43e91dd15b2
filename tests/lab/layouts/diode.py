"""DIODE's validation folder: png, float32 (H, W, 1) metres and a mask, which alone says what is valid."""

from pathlib import Path

import numpy as np

from tests.lab.layouts import Written, made, save_image

SHAPE = (24, 32)


def write(folder: Path) -> dict[str, Written]:
    written = {}
    for seed, (part, scene, scan) in enumerate(
        [("indoors", "00019", "00183"), ("indoors", "00020", "00185"), ("outdoor", "00022", "00193")]
    ):
        image, depth_m = made(SHAPE, seed, far_m=100.0)
        inside = folder / "val" / part / f"scene_{scene}" / f"scan_{scan}"
        name = f"{scene}_{scan}_{part}_000_0{seed}0"
        stored = save_image(inside / f"{name}.png", image)
        mask = depth_m > 0
        depth_m[~mask] = 7.0  # under the mask stands anything
        np.save(inside / f"{name}_depth.npy", depth_m.astype(np.float32)[..., None])
        np.save(inside / f"{name}_depth_mask.npy", mask.astype(np.float32))
        written[name] = Written(stored, np.where(mask, depth_m, np.nan))
    return written

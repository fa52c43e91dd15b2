"""A pack: one set in 16 bits with a sensor and stereo points, and one in 8 bits with an offset."""

from pathlib import Path

import numpy as np
from PIL import Image

from tests.lab.layouts import Written, made, save_image, save_png16

COLUMNS = "set,id,scene,rgb,gt,gt_scale,gt_offset,sensor,sensor_scale,sensor_offset,aux"
SHAPE = (24, 32)


def write(folder: Path) -> dict[str, Written]:
    """Returns the frames of the first set, `street`."""
    written, rows = {}, [COLUMNS]
    for seed in range(2):
        image, depth_m = made(SHAPE, seed, far_m=90.0)
        stored = save_image(folder / "street" / f"{seed}.png", image)
        truth_m = save_png16(folder / "street" / f"{seed}_gt.png", depth_m, 256.0)
        save_png16(folder / "street" / f"{seed}_lidar.png", depth_m[::4, ::4] * 0.5, 256.0)
        np.savez(folder / "street" / f"{seed}.npz", u=np.array([1.5, 30.0]), v=np.array([2.0, 3.0]), z=[4.0, 5.0])
        files = f"street/{seed}.png,street/{seed}_gt.png,0.00390625,0,street/{seed}_lidar.png,0.00390625,0"
        rows.append(f"street,00{seed},drive:{seed},{files},street/{seed}.npz")
        written[f"00{seed}"] = Written(stored, truth_m)
    image, depth_m = made((480, 640), 7)
    save_image(folder / "nyu" / "0009.png", image)
    Image.fromarray(np.rint(depth_m * 25).astype(np.uint8)).save(folder / "nyu" / "0009_gt.png")
    rows.append("nyu,0009,office,nyu/0009.png,nyu/0009_gt.png,0.04,0.5,,,,")
    (folder / "manifest.csv").write_text("\n".join(rows) + "\n")
    return written

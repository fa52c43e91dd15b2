"""SUN RGB-D scenes with bit-rotated millimetres, and the toolbox's allsplit.mat: a cell array of foreign paths."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.io import savemat

from tests.lab.layouts import Written, made, save_image, save_png16

SHAPE = (20, 28)
SCENES = (
    "kv1/NYUdata/NYU0001", "kv1/b3dodata/img_0063", "kv2/kinect2data/000002_2014-05-26",
    "realsense/lg/2014_10_21-17_31_46", "realsense/sa/2014_10_21-18_13_28", "xtion/sun3ddata/mit_76_studyroom",
    "xtion/xtion_align_data/2014_07_01",
)  # fmt: skip
TEST = (4, 0, 2)


def rotated(depth_m: NDArray[np.float64]) -> NDArray[np.float64]:
    """Millimetres with their 16 bits turned left by three, as the publisher stores them."""
    mm = np.rint(depth_m * 1000).astype(np.uint32)
    return ((mm << 3 | mm >> 13) & 0xFFFF).astype(np.float64)


def write(folder: Path) -> dict[str, Written]:
    written = {}
    for seed, scene in enumerate(SCENES):
        image, depth_m = made(SHAPE, seed, far_m=12.0)  # over 8.191 m the turn wraps round
        root = folder / "SUNRGBD" / scene
        stored = save_image(root / "image" / f"{seed:04d}-rgb.jpg", image)
        save_png16(root / "depth" / f"{seed:04d}-depth.png", rotated(depth_m), 1.0)
        save_png16(root / "depth_bfx" / f"{seed:04d}-bfx.png", rotated(np.where(depth_m > 0, depth_m, 2.5)), 1.0)
        (root / "fullres").mkdir()
        mm = np.rint(depth_m * 1000)
        written[scene] = Written(stored, np.where(mm > 0, mm / 1000, np.nan))
    cells = np.empty((1, len(TEST)), object)
    cells[0] = [f"/n/fs/sun3d/data/SUNRGBD/{SCENES[i]}/" for i in TEST]
    split = folder / "SUNRGBDtoolbox" / "traintestSUNRGBD"
    split.mkdir(parents=True)
    savemat(split / "allsplit.mat", {"alltest": cells, "alltrain": cells[:, :1]})
    return {SCENES[i]: written[SCENES[i]] for i in TEST}

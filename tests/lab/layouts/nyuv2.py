"""nyu_depth_v2_labeled.mat (MATLAB 7.3: HDF5 behind a 512-byte header, axes reversed) and splits.mat (MATLAB 5)."""

from pathlib import Path

import h5py
import numpy as np
from scipy.io import savemat

from tests.lab.layouts import Written, made

TEST, TRAIN = (1, 4), (2, 3)
SCENES = ("kitchen_0004", "office_0003", "bedroom_0021", "kitchen_0005")


def write(folder: Path) -> dict[str, Written]:
    folder.mkdir(parents=True, exist_ok=True)
    images, raw = zip(*(made((480, 640), seed) for seed in range(4)), strict=True)
    with h5py.File(folder / "nyu_depth_v2_labeled.mat", "w", userblock_size=512) as file:
        file["images"] = np.stack([image.transpose(2, 1, 0) for image in images])
        file["rawDepths"] = np.stack([z.T for z in raw]).astype(np.float32)
        file["depths"] = np.stack([np.where(z > 0, z, 3.0).T for z in raw]).astype(np.float32)
        cells = file.create_dataset("scenes", (1, 4), h5py.ref_dtype)
        for i, name in enumerate(SCENES):
            text = file.create_dataset(f"#refs#/{i}", data=np.array([[ord(letter)] for letter in name], np.uint16))
            cells[0, i] = text.ref
    indices = {"trainNdxs": TRAIN, "testNdxs": TEST}
    savemat(folder / "splits.mat", {key: np.array(value, np.uint16)[:, None] for key, value in indices.items()})
    return {f"{n:04d}": Written(images[n - 1], np.where(raw[n - 1] > 0, raw[n - 1], np.nan)) for n in TEST}

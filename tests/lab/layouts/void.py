"""VOID's release: lists of paths, uint16 / 256 for depth, points, and a validity map of 0 and 256."""

from pathlib import Path

import numpy as np

from tests.lab.layouts import Written, made, save_image, save_png16

SHAPE = (30, 40)


def write(folder: Path, density: int = 1500) -> dict[str, Written]:
    root = folder / "void_release" / f"void_{density}"
    written, lines = {}, []
    for seed, (sequence, time) in enumerate([("stairs4", "1552695244.3741"), ("desktop2", "1552097915.5257")]):
        image, depth_m = made(SHAPE, seed)
        inside = root / "data" / sequence
        stored = save_image(inside / "image" / f"{time}.png", image)
        truth_m = save_png16(inside / "ground_truth" / f"{time}.png", depth_m, 256.0)
        points = np.zeros(SHAPE)
        points[::7, ::5] = depth_m[::7, ::5] * 0.9
        save_png16(inside / "sparse_depth" / f"{time}.png", points, 256.0)
        valid = (points > 0) & (np.arange(SHAPE[1]) < 30)  # what lies right of it was taken back
        save_png16(inside / "validity_map" / f"{time}.png", valid.astype(np.float64), 256.0)
        lines.append(f"void_{density}/data/{sequence}/image/{time}.png")
        written[f"{sequence}_{time}"] = Written(stored, truth_m)
    (root / "test_image.txt").write_text("\n".join(lines) + "\n")
    return written

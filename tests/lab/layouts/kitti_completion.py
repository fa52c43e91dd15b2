"""KITTI's depth_selection archive: names that repeat the kind of file, uint16 / 256."""

from pathlib import Path

from tests.lab.layouts import Written, made, save_image, save_png16

DRIVE = "2011_09_26_drive_0002_sync"


def write(folder: Path) -> dict[str, Written]:
    root = folder / "depth_selection" / "val_selection_cropped"
    written = {}
    for seed, rest in enumerate(("0000000005_image_02", "0000000008_image_03")):
        image, depth_m = made((35, 121), seed, far_m=90.0)
        stored = save_image(root / "image" / f"{DRIVE}_image_{rest}.png", image)
        truth_m = save_png16(root / "groundtruth_depth" / f"{DRIVE}_groundtruth_depth_{rest}.png", depth_m, 256.0)
        save_png16(root / "velodyne_raw" / f"{DRIVE}_velodyne_raw_{rest}.png", depth_m * 0.5, 256.0)
        written[f"{DRIVE}_{rest}"] = Written(stored, truth_m)
    return written

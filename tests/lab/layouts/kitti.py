"""KITTI raw images, annotated depth and projected scans (uint16 / 256), and BTS's list with a frame without depth."""

from pathlib import Path

from tests.lab.layouts import Written, made, save_image, save_png16

DATE, DRIVE = "2011_09_26", "2011_09_26_drive_0002_sync"
FRAMES = ("0000000069", "0000000054", "0000000042")  # the official list is not in order of time
SHAPE = (375, 1242)


def write(folder: Path) -> dict[str, Written]:
    written, lines = {}, []
    for seed, frame in enumerate(FRAMES):
        image, depth_m = made(SHAPE, seed, far_m=90.0)
        inside = f"{DATE}/{DRIVE}/image_02/data/{frame}.png"
        stored = save_image(folder / "raw" / inside, image)
        depth = f"{DRIVE}/proj_depth/groundtruth/image_02/{frame}.png"
        if seed == 1:
            lines.append(f"{inside} None 721.5377")
            continue
        lines.append(f"{inside} {depth} 721.5377")
        truth_m = save_png16(folder / "data_depth_annotated" / "val" / depth, depth_m, 256.0)
        scan = depth.replace("groundtruth", "velodyne_raw")
        save_png16(folder / "data_depth_velodyne" / "val" / scan, depth_m * 0.5, 256.0)
        written[f"{DRIVE}_{frame}_image_02"] = Written(stored, truth_m)
    (folder / "eigen_test_files_with_gt.txt").write_text("\n".join(lines) + "\n")
    return written

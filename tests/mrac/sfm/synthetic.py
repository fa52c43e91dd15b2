"""A small model of exact geometry, and COLMAP's files of it, text and binary."""

import math
import struct
from pathlib import Path

import numpy as np

from mrac.camera import Camera, Pose
from mrac.conventions import FloatArray

WIDTH, HEIGHT, FOCAL = 64, 48, 50.0
CAMERA = Camera(FOCAL, FOCAL, 31.5, 23.5, WIDTH, HEIGHT)
# (image id, camera id, name, quaternion real part first, translation)
IMAGES = (
    (7, 3, "left/a.png", (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    (2, 3, "right/a b.png", (math.cos(0.05), 0.0, math.sin(0.05), 0.0), (-0.5, 0.0, 0.1)),
    (11, 3, "right/c.png", (1.0, 0.0, 0.0, 0.0), (0.0, 0.3, 0.0)),
    (12, 3, "empty.png", (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
)
POINT_IDS = (5, 900, 31, 4)
XYZ = np.array([[0.1, 0.2, 2.0], [-0.6, 0.3, 3.0], [0.9, -0.5, 4.0], [0.2, -0.1, 1.5]])
RGB = np.array([[1, 2, 3], [255, 0, 7], [9, 9, 9], [0, 128, 200]], dtype=np.uint8)
ERROR_PX = (0.25, 1.5, 0.5, 3.0)
SEEN_BY = ((7, 2, 11), (7, 2), (11, 7, 2), (2, 11))  # by point, in the order of its track


def pose(image: tuple[int, int, str, tuple[float, ...], tuple[float, ...]]) -> Pose:
    w, *xyz = image[3]
    return Pose.from_quaternion((*xyz, w), image[4])


def keypoints(image_id: int) -> list[tuple[float, float, int]]:
    """COLMAP's x, y (first pixel's centre at 0.5) and point id of an image's keypoints; the first sees no point."""
    image = next(image for image in IMAGES if image[0] == image_id)
    if image[2] == "empty.png":
        return []
    found = [(3.25, 4.75, -1)]
    for point_id, xyz, seen in zip(POINT_IDS, XYZ, SEEN_BY, strict=True):
        if image_id in seen:
            (u, v), *_ = CAMERA.project(pose(image).apply(xyz[None])).tolist()
            found.append((u + 0.5, v + 0.5, point_id))
    return found


def tracks() -> list[list[tuple[int, int]]]:
    """By point: pairs of image id and keypoint."""

    def place(image_id: int, point_id: int) -> int:
        return [key[2] for key in keypoints(image_id)].index(point_id)

    return [[(i, place(i, point_id)) for i in seen] for point_id, seen in zip(POINT_IDS, SEEN_BY, strict=True)]


def write_binary(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    cx, cy = CAMERA.cx_px + 0.5, CAMERA.cy_px + 0.5
    camera = struct.pack("<iiQQ4d", 3, 1, WIDTH, HEIGHT, FOCAL, FOCAL, cx, cy)
    (folder / "cameras.bin").write_bytes(struct.pack("<Q", 1) + camera)
    images = struct.pack("<Q", len(IMAGES))
    for image_id, camera_id, name, q, t in IMAGES:
        keys = keypoints(image_id)
        images += struct.pack("<I7dI", image_id, *q, *t, camera_id) + name.encode() + b"\0"
        images += struct.pack("<Q", len(keys)) + b"".join(struct.pack("<ddq", *key) for key in keys)
    (folder / "images.bin").write_bytes(images)
    points = struct.pack("<Q", len(POINT_IDS))
    for point_id, xyz, rgb, error, track in zip(POINT_IDS, XYZ, RGB, ERROR_PX, tracks(), strict=True):
        points += struct.pack("<Q3d3BdQ", point_id, *xyz, *rgb.tolist(), error, len(track))
        points += b"".join(struct.pack("<II", *pair) for pair in track)
    (folder / "points3D.bin").write_bytes(points)
    return folder


def write_text(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    cx, cy = CAMERA.cx_px + 0.5, CAMERA.cy_px + 0.5
    (folder / "cameras.txt").write_text(f"# list\n3 PINHOLE {WIDTH} {HEIGHT} {FOCAL} {FOCAL} {cx} {cy}\n")
    lines = ["# Image list with two lines of data per image:", f"# Number of images: {len(IMAGES)}"]
    for image_id, camera_id, name, q, t in IMAGES:
        lines.append(_row(image_id, *q, *t, camera_id, name))
        lines.append(_row(*(cell for key in keypoints(image_id) for cell in key)))
    (folder / "images.txt").write_text("\n".join(lines) + "\n")
    lines = ["# 3D point list with one line of data per point:"]
    for point_id, xyz, rgb, error, track in zip(POINT_IDS, XYZ, RGB, ERROR_PX, tracks(), strict=True):
        lines.append(_row(point_id, *xyz.tolist(), *rgb.tolist(), error, *(cell for pair in track for cell in pair)))
    (folder / "points3D.txt").write_text("\n".join(lines) + "\n")
    return folder


def depths(image_index: int, ids: list[int]) -> FloatArray:
    """Of points along the axis of an image, by hand: the third row of R · X + t."""
    rows = [POINT_IDS.index(point_id) for point_id in ids]
    return np.asarray(pose(IMAGES[image_index]).apply(XYZ[rows])[:, 2])


def _row(*cells: object) -> str:
    return " ".join(str(cell) if isinstance(cell, str) else repr(cell) for cell in cells)

"""COLMAP's text files `images.txt` and `points3D.txt`."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from mrac.errors import ContractError
from mrac.sfm.model import SfmImage, SfmPoints
from mrac.sfm.record import image_of, read_bytes


def read_images(path: Path) -> list[SfmImage]:
    """Reads `images.txt`: two lines per image, the second with its keypoints; it is empty for an image without any.

    Raises:
        ContractError: the file is missing, or a line is not what COLMAP writes.
    """
    lines = _lines(path)
    images = []
    for number, line in lines:
        if not line or line.startswith("#"):
            continue
        cells = line.split(maxsplit=9)
        points = next(lines, (0, "cut short"))[1].split()
        if len(cells) < 10 or len(points) % 3:
            needed = "IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME, and in the next line triples X Y POINT3D_ID,"
            raise _broken(path, number, line, needed)
        try:
            pose = [float(cell) for cell in cells[1:8]]
            xy = np.array([points[0::3], points[1::3]], dtype=np.float64).T
            point_id = np.array([int(cell) for cell in points[2::3]], dtype=np.int64)
            numbers = int(cells[0]), int(cells[8])
        except (ValueError, OverflowError):
            raise _broken(
                path, number, line, "a number in every cell but the name, here and in the next line,"
            ) from None
        images.append(image_of(path, *numbers, cells[9], pose, xy, point_id))
    return images


def read_points(path: Path) -> SfmPoints:
    """Reads `points3D.txt`: one line per point.

    Raises:
        ContractError: the file is missing, or a line is not what COLMAP writes.
    """
    ids: list[int] = []
    numbers: list[list[float]] = []
    tracks: list[list[int]] = []
    for number, line in _lines(path):
        if not line or line.startswith("#"):
            continue
        cells = line.split()
        needed = "POINT3D_ID X Y Z R G B ERROR and pairs IMAGE_ID POINT2D_IDX"
        if len(cells) < 8 or len(cells) % 2:
            raise _broken(path, number, line, needed)
        try:
            ids.append(int(cells[0]))
            numbers.append([float(cell) for cell in cells[1:8]])
            tracks.append([int(cell) for cell in cells[8:]])
        except ValueError:
            raise _broken(path, number, line, needed) from None
    table = np.array(numbers, dtype=np.float64).reshape(-1, 7)
    colour = table[:, 3:6]
    if not ((colour >= 0) & (colour <= 255)).all():
        raise ContractError(f"sfm: {path}: a colour outside 0 to 255; a points3D.txt of COLMAP is needed")
    try:
        observations = np.array(list(chain.from_iterable(tracks)), dtype=np.int64).reshape(-1, 2)
        point_id = np.array(ids, dtype=np.int64)
    except OverflowError:
        raise ContractError(f"sfm: {path}: an id of more than 63 bits; a points3D.txt of COLMAP is needed") from None
    return SfmPoints(
        point_id=point_id,
        xyz=table[:, :3],
        rgb=colour.astype(np.uint8),
        error_px=table[:, 6],
        track_length=np.array([len(track) // 2 for track in tracks], dtype=np.int64),
        track_image_id=observations[:, 0],
        track_keypoint=observations[:, 1],
    )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, stripped, with their numbers."""
    text = read_bytes(path).decode("utf-8-sig", errors="backslashreplace")
    return ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1))


def _broken(path: Path, number: int, line: str, needed: str) -> ContractError:
    return ContractError(f"sfm: {path} line {number}: {line[:40]!r} arrived; {needed} is needed, as COLMAP writes it")

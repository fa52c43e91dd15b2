"""COLMAP's binary files `images.bin` and `points3D.bin`: little-endian, records of different lengths."""

import struct
from pathlib import Path
from typing import Final

import numpy as np

from mrac.errors import ContractError
from mrac.sfm.model import SfmImage, SfmPoints
from mrac.sfm.record import image_of, read_bytes

_COUNT: Final = struct.Struct("<Q")
_IMAGE: Final = struct.Struct("<I7dI")  # id, quaternion (real part first), translation, camera
_KEYPOINT: Final = np.dtype([("xy", "<f8", 2), ("point_id", "<i8")])
_POINT: Final = np.dtype(
    [("point_id", "<u8"), ("xyz", "<f8", 3), ("rgb", "u1", 3), ("error", "<f8"), ("length", "<u8")]
)
_OBSERVATION: Final = np.dtype([("image_id", "<u4"), ("keypoint", "<u4")])


def read_images(path: Path) -> list[SfmImage]:
    """Reads `images.bin`.

    Raises:
        ContractError: the file is missing, or its numbers do not fit its length.
    """
    data = read_bytes(path)
    at = _COUNT.size
    images = []
    for _ in range(_num_records(data, path, "images", _IMAGE.size + 1 + _COUNT.size)):
        if at + _IMAGE.size > len(data):
            raise _too_short(path, data)
        image_id, *pose, camera_id = _IMAGE.unpack_from(data, at)
        end = data.find(b"\0", at + _IMAGE.size)
        if end < 0 or end + 1 + _COUNT.size > len(data):
            raise _too_short(path, data)
        name = data[at + _IMAGE.size : end].decode("utf-8", errors="backslashreplace")
        (num,) = _COUNT.unpack_from(data, end + 1)
        at = end + 1 + _COUNT.size
        if num * _KEYPOINT.itemsize > len(data) - at:
            raise ContractError(
                f"sfm: {path}: image {name!r} states {num} keypoints, {len(data) - at} bytes are left; the file is cut "
                "short or not of COLMAP: copy it again"
            )
        keypoints = np.frombuffer(data, _KEYPOINT, num, at)
        at += num * _KEYPOINT.itemsize
        images.append(image_of(path, image_id, camera_id, name, pose, keypoints["xy"], keypoints["point_id"]))
    _check_end(path, data, at)
    return images


def read_points(path: Path) -> SfmPoints:
    """Reads `points3D.bin`.

    Raises:
        ContractError: the file is missing, or its numbers do not fit its length.
    """
    data = read_bytes(path)
    num, size = _num_records(data, path, "points", _POINT.itemsize), len(data)
    start = np.empty(num, np.int64)
    at = _COUNT.size
    for n in range(num):  # only a record's own length tells where the next one begins
        if at + _POINT.itemsize > size:
            raise _too_short(path, data)
        start[n] = at
        at += _POINT.itemsize
        at += _OBSERVATION.itemsize * _COUNT.unpack_from(data, at - _COUNT.size)[0]
    if at > size:
        raise _too_short(path, data)
    _check_end(path, data, at)
    edge = np.zeros(size + 1, np.int8)
    edge[start] += 1
    edge[start + _POINT.itemsize] -= 1
    fixed = np.cumsum(edge[:-1], dtype=np.int8).astype(bool)
    raw = np.frombuffer(data, np.uint8)
    points = raw[fixed].view(_POINT)
    tracks = raw[_COUNT.size :][~fixed[_COUNT.size :]].view(_OBSERVATION)
    return SfmPoints(
        point_id=points["point_id"].astype(np.int64),
        xyz=points["xyz"].astype(np.float64),
        rgb=points["rgb"].copy(),
        error_px=points["error"].astype(np.float64),
        track_length=points["length"].astype(np.int64),
        track_image_id=tracks["image_id"].astype(np.int64),
        track_keypoint=tracks["keypoint"].astype(np.int64),
    )


def _num_records(data: bytes, path: Path, what: str, least_bytes: int) -> int:
    """The count at the head of a file, of which each record takes at least so many bytes."""
    if len(data) < _COUNT.size:
        raise _too_short(path, data)
    num: int = _COUNT.unpack_from(data)[0]
    if num * least_bytes > len(data) - _COUNT.size:
        raise ContractError(
            f"sfm: {path}: states {num} {what}, its {len(data)} bytes hold fewer; the file is cut short or not of "
            "COLMAP: copy it again"
        )
    return num


def _too_short(path: Path, data: bytes) -> ContractError:
    return ContractError(
        f"sfm: {path}: ends in the middle of a record, after {len(data)} bytes; the file is cut short or not of "
        "COLMAP: copy it again"
    )


def _check_end(path: Path, data: bytes, at: int) -> None:
    if at != len(data):
        raise ContractError(
            f"sfm: {path}: {len(data) - at} bytes follow its last record, where COLMAP ends; is it another file?"
        )

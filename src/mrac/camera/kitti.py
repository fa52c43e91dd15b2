"""KITTI's calibration files: of the object, tracking and odometry benchmarks, and of the raw data.

Rectified images are meant, which have no distortion. A camera's matrix P (3×4) projects from the frame of rectified
camera 0, from which that camera stands a few centimetres to the side: P = K · [I | t]. `read_camera` gives K and
`read_pose` [I | t] · R0_rect · Tr, so that both together are KITTI's P · R0_rect · Tr.
"""

import re
from pathlib import Path
from typing import Final

import numpy as np

from mrac.camera.matrices import Size, camera_of, given_size, whole_size
from mrac.camera.model import Camera
from mrac.camera.pose import Pose
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.io.input_file import read_text

DEFAULT_CAMERA: Final = 2  # the left colour camera, whose images the benchmarks use
_PROJECTION: Final = re.compile(r"P(?:_rect_0)?(\d)")
_RECTIFICATION: Final = ("R0_rect", "R_rect", "R_rect_00")
_LIDAR: Final = ("Tr_velo_to_cam", "Tr_velo_cam", "Tr")
_RAW_CAMERAS: Final = "calib_cam_to_cam.txt"

Entries = dict[str, FloatArray]


def recognises(text: str) -> bool:
    """Whether a text file's content is of this format."""
    return re.search(r"^(P\d|P_rect_0\d|Tr_velo_to_cam|R0_rect|S_rect_0\d)\b", text, re.M) is not None or (
        re.search(r"^R:", text, re.M) is not None and re.search(r"^T:", text, re.M) is not None
    )


def read_camera(path: Path, text: str, camera: str | None, size: Size | None) -> Camera:
    """The rectified camera `camera`: 0 to 3, also as P2 or image_02; default 2."""
    entries = _entries(path, text)
    number, projection = _projection(path, entries, camera)
    stated = entries.get(f"S_rect_0{number}")
    return camera_of(path, projection[:, :3], given_size(path, size) if stated is None else whole_size(path, stated))


def read_pose(path: Path, text: str, camera: str | None) -> Pose:
    """From the Velodyne's frame to that of the rectified camera `camera`, which has `read_camera`'s matrix."""
    entries = _entries(path, text)
    source = path
    if {"R", "T"} <= entries.keys():
        lidar = np.concatenate([_shaped(path, entries, "R", (3, 3)), _shaped(path, entries, "T", (3, 1))], axis=1)
        source = path.with_name(_RAW_CAMERAS)
        if not source.is_file():
            raise ContractError(f"{path}: {_RAW_CAMERAS} is needed beside it, which holds rectification and cameras")
        entries = _entries(source, read_text(source))
    else:
        name = next((n for n in _LIDAR if n in entries), None)
        if name is None:
            raise ContractError(f"{path}: no Tr_velo_to_cam inside, only {', '.join(entries)}; it is needed")
        lidar = _shaped(path, entries, name, (3, 4))
    rectification = next((n for n in _RECTIFICATION if n in entries), None)
    matrix = np.eye(4)
    if rectification is not None:
        matrix[:3, :3] = _shaped(source, entries, rectification, (3, 3))
    elif "Tr" not in entries:  # odometry's Tr alone leads into the rectified frame
        raise ContractError(f"{source}: no R0_rect inside, only {', '.join(entries)}; the rectification is needed")
    _, projection = _projection(source, entries, camera)
    to_camera = np.eye(4)
    try:
        to_camera[:3, 3] = np.linalg.solve(projection[:, :3], projection[:, 3])
    except np.linalg.LinAlgError:
        to_camera[:3, 3] = np.inf
    if not np.isfinite(to_camera).all():  # singular, or as good as that
        raise ContractError(f"{source}: a projection of {projection.tolist()} is no camera's")
    try:
        return Pose(to_camera @ matrix @ np.concatenate([lidar, [[0, 0, 0, 1]]]))
    except ContractError as error:
        raise ContractError(f"{path}: {error}") from None


def _entries(path: Path, text: str) -> Entries:
    """Every `name: numbers` line; the tracking benchmark leaves out some colons."""
    entries: Entries = {}
    for line in text.splitlines():
        name, _, rest = line.strip().replace(":", " ", 1).partition(" ")
        try:
            entries[name] = np.array(rest.split(), dtype=np.float64)
        except ValueError:  # dates and the like
            continue
    if not entries:
        raise ContractError(f"{path}: no line `P2: numbers` inside; a calibration file of KITTI is needed")
    return entries


def _projection(path: Path, entries: Entries, camera: str | None) -> tuple[int, FloatArray]:
    """The number and (3, 4) matrix of the camera that was asked for, of camera 2, or of the only one."""
    found = {int(match[1]): name for name in entries if (match := _PROJECTION.fullmatch(name))}
    if camera is None:
        number = next(iter(found)) if len(found) == 1 else DEFAULT_CAMERA
    else:
        match = re.fullmatch(r"(?:P|P_rect_|image_|cam)?0?(\d)", camera.strip())
        number = int(match[1]) if match else -1
    if number not in found:
        listed = ", ".join(str(n) for n in sorted(found)) or "none"
        raise ContractError(f"{path}: camera {camera or DEFAULT_CAMERA} is asked for, those inside are: {listed}")
    return number, _shaped(path, entries, found[number], (3, 4))


def _shaped(path: Path, entries: Entries, name: str, shape: tuple[int, int]) -> FloatArray:
    values = entries[name]
    if values.size != shape[0] * shape[1] or not np.isfinite(values).all():
        raise ContractError(f"{path}: {name} has {values.size} numbers, {shape[0]}×{shape[1]} finite ones are needed")
    return values.reshape(shape)

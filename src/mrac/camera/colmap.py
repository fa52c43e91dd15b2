"""COLMAP's cameras.txt and cameras.bin. COLMAP has the first pixel's centre at (0.5, 0.5), this package at (0, 0)."""

import struct
from pathlib import Path
from typing import Final

from mrac.camera.model import Camera
from mrac.errors import ContractError
from mrac.io.input_file import read_bytes

# Number in the binary file → name, number of parameters; the others (FOV, thin prism, …) are not OpenCV's.
_PARAMETERS: Final = {
    "SIMPLE_PINHOLE": 3, "PINHOLE": 4, "SIMPLE_RADIAL": 4, "RADIAL": 5, "OPENCV": 8, "OPENCV_FISHEYE": 8,
    "FULL_OPENCV": 12, "FOV": 5, "SIMPLE_RADIAL_FISHEYE": 4, "RADIAL_FISHEYE": 5, "THIN_PRISM_FISHEYE": 12,
}  # fmt: skip
_BY_NUMBER: Final = tuple(_PARAMETERS)
_SUPPORTED: Final = tuple(name for name in _PARAMETERS if name not in ("FOV", "THIN_PRISM_FISHEYE"))


def recognises(text: str) -> bool:
    """Whether a text file's content is of this format: `id MODEL width height numbers`."""
    lines = (line.split() for line in text.splitlines() if line.strip() and not line.startswith("#"))
    words = next(lines, [])
    return len(words) > 4 and words[0].isdigit() and words[1].isupper() and words[2].isdigit()


def read_camera(path: Path, camera: str | None) -> Camera:
    """The camera with the number `camera`; may be left out where the file holds one."""
    cameras = read_cameras(path)
    listed = ", ".join(map(str, sorted(cameras)[:20]))
    if camera is None:
        if len(cameras) != 1:
            raise ContractError(f"{path}: {len(cameras)} cameras inside, numbers {listed}; name one: camera=NUMBER")
        return next(iter(cameras.values()))
    if not camera.isdigit() or int(camera) not in cameras:
        raise ContractError(f"{path}: camera {camera!r} is asked for, the numbers inside are {listed}")
    return cameras[int(camera)]


def read_cameras(path: Path) -> dict[int, Camera]:
    """All cameras of a cameras.txt or cameras.bin, by number.

    Raises:
        ContractError: the file is missing or broken, or a camera's model has no counterpart in OpenCV.
    """
    content = read_bytes(path)
    cameras = _binary(path, content) if path.suffix == ".bin" else _text(path, content)
    if not cameras:
        raise ContractError(f"{path}: no camera inside; a camera of a COLMAP model is needed")
    return cameras


def _text(path: Path, content: bytes) -> dict[int, Camera]:
    cameras = {}
    for number, line in enumerate(content.decode("utf-8", errors="replace").splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            key, name, width, height = int(words[0]), words[1], int(words[2]), int(words[3])
            parameters = [float(word) for word in words[4:]]
        except (ValueError, IndexError):
            raise ContractError(
                f"{path}, line {number}: `id MODEL width height parameters` is needed, {line[:60]!r} arrived"
            ) from None
        cameras[key] = _camera(f"{path}, line {number}", name, (width, height), parameters)
    return cameras


def _binary(path: Path, content: bytes) -> dict[int, Camera]:
    """Little-endian: count uint64, then per camera id uint32, model int32, width uint64, height uint64, float64s."""
    cameras = {}
    try:
        (count,) = struct.unpack_from("<Q", content)
        at = 8
        for _ in range(count):
            key, model, width, height = struct.unpack_from("<IiQQ", content, at)
            if not 0 <= model < len(_BY_NUMBER):
                raise ContractError(
                    f"{path}: camera model number {model} arrived, one of {', '.join(_SUPPORTED)} is needed"
                )
            name = _BY_NUMBER[model]
            parameters = struct.unpack_from(f"<{_PARAMETERS[name]}d", content, at + 24)
            at += 24 + 8 * len(parameters)
            cameras[key] = _camera(f"{path}, camera {key}", name, (width, height), list(parameters))
    except struct.error:
        raise ContractError(f"{path}: {len(content)} bytes end within a camera; all of cameras.bin is needed") from None
    if at != len(content):
        raise ContractError(f"{path}: {len(content)} bytes arrived, its {count} cameras take {at}; is it cameras.bin?")
    return cameras


def _camera(where: str, name: str, size: tuple[int, int], parameters: list[float]) -> Camera:
    if name not in _SUPPORTED:
        raise ContractError(
            f"{where}: camera model {name} arrived, one of {', '.join(_SUPPORTED)} is needed; undistort the images "
            "with COLMAP"
        )
    if len(parameters) != _PARAMETERS[name]:
        raise ContractError(f"{where}: {name} has {_PARAMETERS[name]} parameters, {len(parameters)} arrived")
    one_focal_length = name.startswith("SIMPLE_") or name.startswith("RADIAL")
    fx, fy, cx, cy, *k = parameters[:1] * one_focal_length + parameters
    if name.endswith("PINHOLE"):
        model, k = "pinhole", []
    elif name.endswith("FISHEYE"):
        model, k = "fisheye", [*k, 0.0, 0.0, 0.0][:4]
    else:
        model, k = ("rational", k) if name == "FULL_OPENCV" else ("radtan", [*k, 0.0, 0.0, 0.0][:4])
    try:
        return Camera(fx, fy, cx - 0.5, cy - 0.5, *size, model, tuple(k))
    except ContractError as error:
        raise ContractError(f"{where}: {error}") from None

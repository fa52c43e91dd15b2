"""Reads cameras from files of any known format, told by content and suffix."""

from pathlib import Path

from mrac.camera import arkit, colmap, kitti, nerf, nuscenes, plain, ros
from mrac.camera.matrices import Size
from mrac.camera.model import Camera
from mrac.errors import ContractError
from mrac.io.input_file import as_path, parse_json, read_text
from mrac.limits import DESCRIPTION_BYTES


def read_camera(path: Path | str, camera: str | int | None = None, *, size: Size | None = None) -> Camera:
    """Reads a camera: its matrix, image size and distortion.

    Args:
        path: of a calibration of KITTI (.txt), a CameraInfo of ROS (.yaml), cameras of COLMAP (.txt, .bin, or the
            model's folder), or JSON: nuScenes' calibrated_sensor, ARKit's intrinsics, NeRF's transforms.json, or plain
            fx, fy, cx, cy, width, height.
        camera: which, of a file with several: KITTI 0 to 3 (default 2, the left colour camera), COLMAP's number,
            nuScenes' token, the file name of NeRF's frame.
        size: (width, height) in pixels of the images that the calibration is of, where the file does not state it
            (KITTI's benchmarks, nuScenes); otherwise the file's counts. For pictures of another size: `resized`.

    Raises:
        ContractError: the file is missing, broken, of an unknown format, or leaves open which camera or size.
        MissingExtra: YAML, and PyYAML is not installed.
    """
    path, which = as_path(path, 'read_camera("camera.json")'), None if camera is None else str(camera)
    if path.is_dir():
        path = next((path / name for name in ("cameras.bin", "cameras.txt") if (path / name).is_file()), path)
    if path.suffix.lower() == ".bin":
        return colmap.read_camera(path, which)
    text = text_of(path, "camera")
    if is_json(text):
        return _from_json(path, json_of(path, text), which, size)
    if kitti.recognises(text):
        return kitti.read_camera(path, text, which, size)
    if colmap.recognises(text):
        return colmap.read_camera(path, which)
    if path.suffix.lower() in (".yaml", ".yml"):
        return ros.read_camera(path, text, size)
    raise ContractError(
        f"camera: {path} is of no known format; KITTI's calib.txt, ROS's CameraInfo .yaml, COLMAP's cameras.txt or "
        ".bin or a .json is needed"
    )


def _from_json(path: Path, content: object, camera: str | None, size: Size | None) -> Camera:
    if nuscenes.recognises(content):
        return nuscenes.read_camera(path, content, camera, size)
    if not isinstance(content, dict):
        raise ContractError(f"camera: {path}: a JSON object is needed, {type(content).__name__} arrived")
    if nerf.recognises(content):
        return nerf.read_camera(path, content, camera, size)
    if arkit.recognises(content):
        return arkit.read_camera(path, content, size)
    if "distortion_model" in content:
        return ros.from_message(path, content, size)
    return plain.read_camera(path, content, size)


def text_of(path: Path, what: str) -> str:
    """A text file's content.

    Raises:
        ContractError: it is missing or not text.
    """
    if path.is_dir():
        raise ContractError(f"{what}: {path} is a folder without cameras.bin or cameras.txt; a file is needed")
    return read_text(path, what, DESCRIPTION_BYTES)


def is_json(text: str) -> bool:
    """Whether a text is JSON, or was meant to be."""
    return text.lstrip()[:1] in ("{", "[")


def json_of(path: Path, text: str) -> object:
    """The content of a JSON text.

    Raises:
        ContractError: it is not JSON.
    """
    content: object = parse_json(text, str(path))
    return content

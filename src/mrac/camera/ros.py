"""ROS's sensor_msgs/CameraInfo as YAML: as camera_info_manager stores it, or a message printed by `topic echo`.

The camera of the raw image is meant (K and D), not that of the rectified one (P).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.camera.matrices import Size, camera_of, square_matrix, stated_size
from mrac.camera.model import Camera
from mrac.errors import ContractError, MissingExtra, first_line

# Name in the message → model, and how many coefficients belong to it; those beyond (thin prism, tilt) must be 0.
_MODELS: Final = {
    "plumb_bob": ("radtan", 5),
    "rational_polynomial": ("rational", 8),
    "equidistant": ("fisheye", 4),
    "fisheye": ("fisheye", 4),
}


def read_camera(path: Path, text: str, size: Size | None) -> Camera:
    """The camera of the first message in a YAML file."""
    return from_message(path, _first_mapping(path, text), size)


def from_message(path: Path, content: Mapping[str, Any], size: Size | None) -> Camera:
    """The camera of a message, whose fields may also come from JSON."""
    name = next((n for n in ("camera_matrix", "k", "K") if n in content), None)
    if name is None:
        raise ContractError(
            f"{path}: a CameraInfo is needed, with camera_matrix, k or K; its keys are {', '.join(map(str, content))}"
        )
    matrix = square_matrix(path, name, _data(content[name]))
    model, distortion = _distortion(path, content)
    camera = camera_of(path, matrix, stated_size(path, content, size), model, distortion)
    return _windowed(path, content, camera)


def _first_mapping(path: Path, text: str) -> Mapping[str, Any]:
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(f"camera: {path} is YAML", "sensors") from None
    try:
        content = next((part for part in yaml.safe_load_all(text) if part is not None), None)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # numbers of 5,000 digits; brackets in brackets
        raise ContractError(f"{path}: not readable as YAML ({first_line(error)})") from None
    if not isinstance(content, Mapping):
        raise ContractError(f"{path}: a CameraInfo is needed, {type(content).__name__} arrived")
    return content


def _data(value: object) -> object:
    """The numbers of a matrix, which camera_info_manager writes as {rows, cols, data}."""
    return value.get("data") if isinstance(value, Mapping) else value


def _distortion(path: Path, content: Mapping[str, Any]) -> tuple[str, tuple[float, ...]]:
    values = _data(next((content[n] for n in ("distortion_coefficients", "d", "D") if n in content), ()))
    try:
        numbers = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        raise ContractError(f"{path}: distortion coefficients are needed as numbers, {values!r:.80} arrived") from None
    if not numbers.any():
        return "pinhole", ()
    named = content.get("distortion_model") or "plumb_bob"
    if named not in _MODELS:
        raise ContractError(f"{path}: distortion_model {named!r} arrived, one of {', '.join(_MODELS)} is needed")
    model, num = _MODELS[named]
    if numbers[num:].any():
        raise ContractError(
            f"{path}: {numbers.size} distortion coefficients arrived, {named} has {num}; calibrate without thin "
            "prism and tilt"
        )
    return model, tuple(numbers[:num].tolist())


def _windowed(path: Path, content: Mapping[str, Any], camera: Camera) -> Camera:
    """The camera of the picture that the sensor sends: K is of the whole sensor, read in part (roi) or binned."""
    roi = content.get("roi") or {}
    width, height = (int(roi.get(n) or 0) for n in ("width", "height"))
    if width and height:
        matrix = camera.matrix
        matrix[:2, 2] -= [float(roi.get(n) or 0) for n in ("x_offset", "y_offset")]
        camera = camera_of(path, matrix, (width, height), camera.model, camera.distortion)
    across, down = (int(content.get(n) or 1) for n in ("binning_x", "binning_y"))
    return camera if across == down == 1 else camera.resized(camera.width // across, camera.height // down)

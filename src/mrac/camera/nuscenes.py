"""nuScenes' calibrated_sensor.json, whole or one record of it: `camera_intrinsic`, `rotation` and `translation`.

The record does not state the image's size (1600×900 in nuScenes). Its rotation and translation take points of the
sensor's frame to the vehicle's: `camera_from_lidar = read_pose("camera.json").inverse() @ read_pose("lidar.json")`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mrac.camera.matrices import Size, camera_of, square_matrix, stated_size
from mrac.camera.model import Camera
from mrac.errors import ContractError


def recognises(content: object) -> bool:
    """Whether a JSON file's content is of this format."""
    if isinstance(content, list):
        return bool(content) and all(isinstance(r, Mapping) and "token" in r for r in content)
    return isinstance(content, Mapping) and "camera_intrinsic" in content


def read_camera(path: Path, content: object, camera: str | None, size: Size | None) -> Camera:
    """The camera of the only record with intrinsics, or of that with the token `camera`."""
    chosen = record(path, content, camera, "camera_intrinsic")
    matrix = square_matrix(path, "camera_intrinsic", chosen["camera_intrinsic"])
    return camera_of(path, matrix, stated_size(path, chosen, size))


def record(path: Path, content: Any, token: str | None, needed: str) -> Mapping[str, Any]:
    """The record with a token, or the only one that has something under `needed` (a lidar has no intrinsics)."""
    records: Sequence[Mapping[str, Any]] = content if isinstance(content, list) else [content]
    fits = [r for r in records if r.get(needed) and token in (None, r.get("token"))]
    if len(fits) != 1:
        named = "" if token is None else f" with token {token!r}"
        raise ContractError(
            f"{path}: {len(fits)} of {len(records)} records{named} have {needed!r}, one is needed; give its token: "
            "camera=TOKEN"
        )
    return fits[0]

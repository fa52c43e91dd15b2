"""NeRF's transforms.json (instant-ngp, nerfstudio, Polycam): fl_x, fl_y, cx, cy, w, h, k1, k2, p1, p2.

Its pixel centres lie at 0.5, as COLMAP's, from which most of these files are made.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mrac.camera.matrices import Size, stated_size
from mrac.camera.model import Camera
from mrac.errors import ContractError


def recognises(content: object) -> bool:
    """Whether a JSON file's content is of this format."""
    if not isinstance(content, Mapping):
        return False
    frames = content.get("frames")
    first = frames[0] if isinstance(frames, list) and frames and isinstance(frames[0], Mapping) else {}
    return any(name in part for part in (content, first) for name in ("fl_x", "camera_angle_x"))


def read_camera(path: Path, content: Mapping[str, Any], camera: str | None, size: Size | None) -> Camera:
    """The camera of all frames, or that of the frame `camera` (its file_path or the file's name)."""
    values = {**content, **_frame(path, content, camera)}
    width, height = stated_size(path, values, size)

    def number(name: str, default: float | None = None) -> float:
        value = values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            hint = "; the frames differ, name one: camera=FILE" if camera is None and "frames" in content else ""
            raise ContractError(f"{path}: {name} is needed as a finite number, {value!r} arrived{hint}")
        return float(value)

    if "fl_x" in values or "camera_angle_x" not in values:
        fx = number("fl_x")
    else:
        fx = 0.5 * width / math.tan(0.5 * number("camera_angle_x"))
    k1, k2, k3, k4, p1, p2 = (number(name, 0.0) for name in ("k1", "k2", "k3", "k4", "p1", "p2"))
    model = "radtan"
    distortion: tuple[float, ...] = (k1, k2, p1, p2, k3)
    if "FISHEYE" in str(values.get("camera_model", "")) or values.get("is_fisheye"):
        model, distortion = "fisheye", (k1, k2, k3, k4)
    elif k4:
        raise ContractError(f"{path}: k4 = {k4:g} arrived; but for a fisheye, k1, k2, k3, p1, p2 are known")
    elif not any(distortion):
        model, distortion = "pinhole", ()
    cx, cy = number("cx", 0.5 * width) - 0.5, number("cy", 0.5 * height) - 0.5
    try:
        return Camera(fx, number("fl_y", fx), cx, cy, width, height, model, distortion)
    except ContractError as error:
        raise ContractError(f"{path}: {error}") from None


def _frame(path: Path, content: Mapping[str, Any], camera: str | None) -> Mapping[str, Any]:
    if camera is None:
        return {}
    named = {str(f.get("file_path")): f for f in content.get("frames", ()) if isinstance(f, Mapping)}
    fits = [f for name, f in named.items() if camera in (name, Path(name).name, Path(name).stem)]
    if len(fits) != 1:
        listed = ", ".join(list(named)[:5])
        raise ContractError(f"{path}: {len(fits)} frames are named {camera!r}, one is needed; frames: {listed}, …")
    return fits[0]

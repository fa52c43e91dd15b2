"""A camera as plain JSON: fx, fy, cx, cy, width, height, or a 3×3 matrix (Open3D), and OpenCV's distortion."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.camera.matrices import Size, camera_of, square_matrix, stated_size
from mrac.camera.model import Camera
from mrac.errors import ContractError

_MATRICES: Final = ("intrinsic_matrix", "camera_matrix", "K", "k", "matrix")
_NUMBERS: Final = ("fx", "fy", "cx", "cy")
_MODELS: Final = {0: "pinhole", 4: "radtan", 5: "radtan", 8: "rational"}


def read_camera(path: Path, content: Mapping[str, Any], size: Size | None) -> Camera:
    """The camera; its coefficients are under `distortion`, the model under `model` or told by their number."""
    # `fx_px` and the like are the names of Camera's own attributes: dataclasses.asdict is read back.
    named = {name: content.get(name, content.get(f"{name}_px")) for name in _NUMBERS}
    stored = next((name for name in _MATRICES if name in content), None)
    if all(value is not None for value in named.values()):
        try:
            fx, fy, cx, cy = (float(value) for value in named.values())
        except (TypeError, ValueError, OverflowError):
            raise ContractError(f"{path}: numbers are needed for fx, fy, cx, cy; {named} arrived") from None
        matrix = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
    elif stored is not None:
        matrix = square_matrix(path, stored, content[stored])
    else:
        raise ContractError(
            f"{path}: no camera inside: fx, fy, cx, cy, or a 3×3 camera_matrix, camera_intrinsic (nuScenes), "
            f"intrinsics (ARKit) or fl_x (NeRF) is needed; its keys are {', '.join(map(str, content))[:80]}"
        )
    model, distortion = _distortion(path, content)
    return camera_of(path, matrix, stated_size(path, content, size), model, distortion)


def _distortion(path: Path, content: Mapping[str, Any]) -> tuple[str, tuple[float, ...]]:
    names = ("distortion", "distortion_coefficients", "dist_coeffs", "D", "d")
    values = next((content[name] for name in names if content.get(name) is not None), ())
    try:
        numbers = tuple(np.asarray(values, dtype=np.float64).ravel().tolist())
    except (TypeError, ValueError, OverflowError):
        raise ContractError(f"{path}: distortion coefficients are needed as numbers, {values!r:.80} arrived") from None
    model = content.get("model") or _MODELS.get(len(numbers))
    if model is None:
        raise ContractError(
            f"{path}: {len(numbers)} distortion coefficients arrived; 4, 5 or 8 are needed, in OpenCV's order"
        )
    return str(model), numbers

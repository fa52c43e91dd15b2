"""ARKit's camera as apps store it in JSON: `intrinsics`, nine numbers by column, and `imageResolution`.

Apple counts the principal point "from the top-left corner of the image frame", so pixel centres lie at 0.5.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mrac.camera.matrices import Size, camera_of, square_matrix, stated_size
from mrac.camera.model import Camera
from mrac.errors import ContractError

_NAMES = ("intrinsics", "cameraIntrinsics")


def recognises(content: object) -> bool:
    """Whether a JSON file's content is of this format."""
    return isinstance(content, Mapping) and any(isinstance(content.get(name), list) for name in _NAMES)


def read_camera(path: Path, content: Mapping[str, Any], size: Size | None) -> Camera:
    """The camera; apps that store the matrix by row are understood too, the place of its zeros differs."""
    name = next(n for n in _NAMES if isinstance(content.get(n), list))
    try:
        matrix = square_matrix(path, name, content[name])
    except ContractError as error:
        raise ContractError(f"{error}: fx 0 0 0 fy 0 cx cy 1, as ARKit has them") from None
    return camera_of(path, matrix, stated_size(path, content, size), first_centre=0.5)

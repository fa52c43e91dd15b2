"""Camera matrices as files hold them: nine numbers by row or by column, 3×3 or a larger projection matrix."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mrac.camera.model import Camera
from mrac.conventions import FloatArray
from mrac.errors import ContractError

Size = tuple[int, int]


def camera_of(
    path: Path,
    matrix: FloatArray,
    size: Size,
    model: str = "pinhole",
    distortion: tuple[float, ...] = (),
    first_centre: float = 0.0,
) -> Camera:
    """The camera of a 3×3 matrix.

    Args:
        path: of the file, for messages.
        matrix: (3, 3).
        size: width, height.
        model: as of `Camera`.
        distortion: as of `Camera`.
        first_centre: where the file's convention has the centre of the first pixel: 0, or 0.5 from the image's corner.
    """
    if not np.isfinite(matrix).all() or not np.allclose(matrix[2] / (matrix[2, 2] or np.nan), (0, 0, 1), atol=1e-9):
        raise ContractError(f"{path}: a camera matrix fx 0 cx, 0 fy cy, 0 0 1 is needed, {matrix.tolist()} arrived")
    k = matrix / matrix[2, 2]
    if k[0, 0] == 0:
        raise ContractError(f"{path}: the focal length is 0, as of a camera not calibrated; calibrate it first")
    if max(abs(k[0, 1]), abs(k[1, 0])) > 1e-6 * abs(k[0, 0]):
        raise ContractError(f"{path}: a camera matrix without skew is needed, {matrix.tolist()} arrived")
    try:
        return Camera(k[0, 0], k[1, 1], k[0, 2] - first_centre, k[1, 2] - first_centre, *size, model, distortion)
    except ContractError as error:
        raise ContractError(f"{path}: {error}") from None


def square_matrix(path: Path, name: str, values: object) -> FloatArray:
    """(3, 3) from 3×3 or nine numbers, by row or by column: the zeros below the diagonal tell which."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.empty(0)
    if numbers.size != 9:
        raise ContractError(f"{path}: {name!r} holds {values!r:.80}; nine numbers, or three rows of three, are needed")
    matrix = numbers.reshape(3, 3)
    return matrix.T if np.array_equal(matrix[:, 2], (0, 0, 1)) else matrix


def stated_size(path: Path, content: Mapping[str, Any], size: Size | None) -> Size:
    """Width and height from a mapping, under any of the usual names; else `size`."""
    for names in (("width", "height"), ("w", "h"), ("image_width", "image_height")):
        if all(name in content for name in names):
            return whole_size(path, [content[name] for name in names])
    for name in ("imageResolution", "image_resolution", "resolution", "image_size"):
        if name in content:
            value = content[name]
            if isinstance(value, Mapping):
                return stated_size(path, value, size)
            return whole_size(path, value)
    return given_size(path, size)


def whole_size(path: Path, values: object) -> Size:
    """Width and height from two numbers of a file."""
    try:
        width, height = np.asarray(values, dtype=np.float64).tolist()
        whole = (round(width), round(height))
    except (TypeError, ValueError, OverflowError):
        whole = (0, 0)
    if min(whole) < 1:
        raise ContractError(f"{path}: an image size of {values!r:.60} is stated; width and height in pixels are needed")
    return whole


def given_size(path: Path, size: Size | None) -> Size:
    """The caller's size, of a file that states none."""
    if size is None:
        raise ContractError(
            f"{path}: it does not state the image's size; give it: read_camera(…, size=(width, height))"
        )
    return size

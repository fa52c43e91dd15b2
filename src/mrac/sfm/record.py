"""One image of a model from what a file says of it, text or binary."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from mrac.camera import Pose
from mrac.errors import ContractError
from mrac.io import input_file
from mrac.sfm.model import SfmImage

CENTRE_OF_FIRST_PIXEL = 0.5  # in COLMAP's files; 0 in this package


def image_of(
    path: Path,
    image_id: int,
    camera_id: int,
    name: str,
    pose: Sequence[float],
    xy: ArrayLike,
    point_id: ArrayLike,
) -> SfmImage:
    """An image from COLMAP's numbers.

    Args:
        path: of the file, for the error message.
        image_id: as in the file.
        camera_id: as in the file.
        name: as in the file.
        pose: quaternion, real part first, and translation.
        xy: (N, 2) keypoints, the first pixel's centre at 0.5.
        point_id: (N,), negative for none.

    Raises:
        ContractError: the pose is none.
    """
    w, *q, x, y, z = pose
    try:
        with np.errstate(all="ignore"):  # a damaged file has numbers of any size
            camera_from_world = Pose.from_quaternion((*q, w), (x, y, z))
    except ContractError as error:
        raise ContractError(f"sfm: {path}: image {name!r}: {error}") from None
    uv = np.array(xy, dtype=np.float64).reshape(-1, 2) - CENTRE_OF_FIRST_PIXEL
    return SfmImage(image_id, camera_id, name, camera_from_world, uv, np.array(point_id, dtype=np.int64))


def read_bytes(path: Path) -> bytes:
    """The content of a file of a model.

    Raises:
        ContractError: it cannot be read.
    """
    return input_file.read_bytes(path, "sfm")

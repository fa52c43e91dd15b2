"""Depth of one camera seen by another: points of a depth map projected into the image, hidden ones marked."""

from typing import Final, NamedTuple

import numpy as np

from mrac.camera import Camera, Pose
from mrac.conventions import BoolArray, FloatArray

# A point is hidden if one in the same cell is nearer by more than this, metres and share of its depth: noise and the
# slope of one surface within a cell stay below.
_TOLERANCE_M: Final = 0.15
_TOLERANCE_SHARE: Final = 0.02
# A cell's side in projected pixels of the depth camera: with less, the background shows between those of a surface.
_CELL: Final = 2.0


class Registered(NamedTuple):
    """Points of a depth camera in the image of another.

    Attributes:
        uv_px: (N, 2) in the image; NaN behind the camera.
        z_m: (N,) along the axis of the image's camera.
        hidden: (N,) that the depth camera sees past an edge which hides them from the image's camera.
    """

    uv_px: FloatArray
    z_m: FloatArray
    hidden: BoolArray


def register(uv_px: FloatArray, z_m: FloatArray, depth_camera: Camera, camera: Camera, pose: Pose | None) -> Registered:
    """Takes pixels of a depth camera into the image of `camera`: unproject, move, project, coarse z-buffer.

    Args:
        uv_px: (N, 2) pixels of the depth map: all that have a reading, since any may hide another.
        z_m: (N,) metres along the depth camera's axis.
        depth_camera: that saw them.
        camera: of the image.
        pose: camera from depth camera; None where they share a place and direction.
    """
    xyz = depth_camera.unproject(uv_px, z_m)
    if pose is not None:
        xyz = pose.apply(xyz)
    seen = camera.project(xyz)
    magnified = max(camera.fx_px / depth_camera.fx_px, camera.fy_px / depth_camera.fy_px)
    return Registered(seen, xyz[:, 2], hidden(seen, xyz[:, 2], max(1.0, _CELL * magnified)))


def hidden(uv_px: FloatArray, z_m: FloatArray, cell_px: float) -> BoolArray:
    """(N,) points that lie behind the nearest one of their cell by more than 0.15 m + 2 % of their depth.

    Args:
        uv_px: (N, 2); a NaN is hidden by nothing and hides nothing.
        z_m: (N,) metres.
        cell_px: side of the square cells of the z-buffer.
    """
    found = np.zeros(len(z_m), np.bool_)
    finite = np.isfinite(uv_px).all(axis=1) & np.isfinite(z_m)
    if not finite.any():
        return found
    cell = np.floor((uv_px[finite] + 0.5) / cell_px).astype(np.int64)
    cell -= cell.min(axis=0)
    _, index = np.unique(cell[:, 1] * (cell[:, 0].max() + 1) + cell[:, 0], return_inverse=True)
    nearest = np.full(index.max() + 1, np.inf)
    np.minimum.at(nearest, index, z_m[finite])
    found[finite] = z_m[finite] - nearest[index] > _TOLERANCE_M + _TOLERANCE_SHARE * z_m[finite]
    return found

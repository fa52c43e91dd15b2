"""Anchors from a point cloud: projected, the nearest of each pixel kept, points seen past an edge flagged."""

import math
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrac.anchors._projection import projected
from mrac.anchors.occlusion import occluded
from mrac.anchors.readings import UNFLAGGED, Anchors
from mrac.camera import Camera, Pose
from mrac.clouds import PointCloud, read_cloud
from mrac.conventions import BoolArray, FloatArray, as_numbers
from mrac.errors import ContractError

OCCLUDED: Final = "occluded"
_MODES: Final = ("flag", "off")
# The spacing of an HDL-64's points, 4 pixels at a focal length of 721. Of a tenth of them (train/kitti15) 99 % of the
# right ones are kept with this limit, 77 % without: nearer points far away say nothing.
_MAX_SPACING_RAD: Final = math.radians(0.32)


def from_point_cloud(
    cloud: PointCloud | Path | str | ArrayLike,
    camera: Camera,
    pose: Pose | None = None,
    *,
    occlusion: str = "flag",
    max_anchors: int | None = None,
    sigma_m: float | None = None,
) -> Anchors:
    """Projects a point cloud into the image.

    Points behind the camera, outside the image or behind another of the same pixel are left out.

    Args:
        cloud: of a sensor, or its file (`mrac.clouds.read_cloud`), or (N, 3+) coordinates in metres.
        camera: of the image, with its distortion.
        pose: camera from sensor; None if the points are in the camera's frame (x right, y down, z forward).
        occlusion: `flag` gives points that the sensor sees past an edge, which hides them from the camera, the flag
            `occluded` (`anchors.occlusion`); `off` does not look for them.
        max_anchors: where there are more, so many at most that have no flag, evenly over the image; None: all.
        sigma_m: standard deviation of every reading, if known.

    Returns:
        K anchors, row by row and then by column, at most one per pixel.

    Raises:
        ContractError: the file cannot be read, or an argument is not one of those above.
    """
    if occlusion not in _MODES:
        raise ContractError(f"from_point_cloud: occlusion {occlusion!r} arrived; one of {', '.join(_MODES)} is needed")
    if max_anchors is not None and max_anchors < 1:
        raise ContractError(f"from_point_cloud: max_anchors {max_anchors} arrived; a number > 0 is needed, or None")
    uv, z, inside = projected(_coordinates(cloud), camera, pose)
    uv, z = uv[inside], z[inside]
    first = _nearest(uv, z, camera.width)
    uv, z = uv[first], z[first]
    hidden = np.zeros(z.size, np.bool_)
    if occlusion == "flag":
        hidden = occluded(uv, z, _MAX_SPACING_RAD * math.sqrt(camera.fx_px * camera.fy_px))
    flag = np.where(hidden, OCCLUDED, UNFLAGGED)
    anchors = Anchors(uv, z, None if sigma_m is None else np.full(z.size, sigma_m), flag=flag)
    if max_anchors is None or z.size <= max_anchors:
        return anchors
    return anchors.take(_spread(uv, hidden, max_anchors))


def _coordinates(cloud: PointCloud | Path | str | ArrayLike) -> FloatArray:
    """The (N, 3) points of whatever arrived."""
    if isinstance(cloud, Path | str):
        cloud = read_cloud(cloud)
    if isinstance(cloud, PointCloud):
        return cloud.xyz_m
    xyz = as_numbers(cloud, "from_point_cloud: cloud")
    if xyz.ndim != 2 or xyz.shape[1] < 3:
        raise ContractError(f"from_point_cloud: cloud has shape {xyz.shape}; (N, 3) or wider is needed: x, y, z")
    return xyz[:, :3]


def _nearest(uv_px: FloatArray, z_m: FloatArray, width: int) -> NDArray[np.intp]:
    """The nearest point of each pixel that has one, by pixel."""
    column, row = np.floor(uv_px.T + 0.5)
    pixel = (row * width + column).astype(np.int64)
    order = np.lexsort((z_m, pixel))
    return np.asarray(order[np.diff(pixel[order], prepend=-1) > 0])


def _spread(uv_px: FloatArray, hidden: BoolArray, num: int) -> NDArray[np.intp]:
    """At most `num` of the points that are not hidden: one of each cell of the finest grid with so few occupied cells.

    In each cell it is the one nearest to the cell's middle.
    """
    free = np.flatnonzero(~hidden)
    uv = uv_px[free] + 0.5
    low, high = 1.0, 2.0 + float(uv.max(initial=0.0))  # one cell for each pixel; one cell for all
    if free.size <= num:
        return free
    while high - low > 1e-3 * high:
        side = 0.5 * (low + high)
        low, high = (side, high) if len(np.unique(_cells(uv, side))) > num else (low, side)
    off = np.abs(uv / high % 1.0 - 0.5).max(axis=1)
    cell = _cells(uv, high)
    order = np.lexsort((off, cell))
    return np.sort(free[order[np.diff(cell[order], prepend=-1) > 0]])


def _cells(uv: FloatArray, side: float) -> NDArray[np.int64]:
    column, row = (uv // side).astype(np.int64).T
    return np.asarray(row * (1 << 32) + column)

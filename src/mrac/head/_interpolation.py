"""Interpolation of anchors over the image: one reading per pixel, nearest neighbour, linear on triangles."""

from typing import Final

import numpy as np
from scipy import ndimage
from scipy.spatial import QhullError, cKDTree

from mrac.conventions import FloatArray
from mrac.delaunay import fill_triangles
from mrac.fit.base import UNCHECKED_SPREAD
from mrac.head._sigma import rms
from mrac.head.base import Scene
from mrac.vi_depth.alignment import PixelReadings, readings_on_pixels
from mrac.vi_depth.ranges import Ranges

_ANY: Final = Ranges(min_depth_m=1e-6, max_depth_m=1e6, min_pred_m=1e-6, max_pred_m=1e6)


def inliers_on_pixels(scene: Scene) -> PixelReadings:
    """The inliers, one per pixel: of several the nearest to the camera, which hides the others."""
    kept = scene.samples.inliers
    return readings_on_pixels(kept.uv_px, kept.z_m, scene.shape, _ANY)


def nearest_map(readings: PixelReadings, values: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """(H, W) float32: at each pixel the value of the nearest reading, out of (K,) values, K >= 1."""
    at = np.zeros(shape, np.float32)
    elsewhere = np.ones(shape, np.bool_)
    u, v = readings.uv_px.T
    at[v, u], elsewhere[v, u] = values, False
    rows, columns = ndimage.distance_transform_edt(elsewhere, return_distances=False, return_indices=True)
    return np.asarray(at[rows, columns])


def linear_over_triangles(readings: PixelReadings, values: FloatArray, dense: FloatArray) -> str:
    """Interpolates (K,) values linearly on the Delaunay triangles of the readings, into (H, W) float32 `dense`.

    Returns:
        A status: `ok`; or, where there is no triangle and nothing was written, `too_few_anchors` (fewer than three) or
        `collinear_anchors`.
    """
    if len(readings) < 3:
        return "too_few_anchors"
    try:
        fill_triangles(readings.uv_px, values, dense)
    except QhullError:
        return "collinear_anchors"
    return "ok"


def neighbour_spread(readings: PixelReadings) -> float:
    """Standard deviation as a share of depth: root mean square log ratio of readings to their nearest neighbours."""
    if len(readings) < 2:
        return UNCHECKED_SPREAD
    _, nearest = cKDTree(readings.uv_px).query(readings.uv_px, k=[2])
    log_ratio = np.log(readings.inv_z_per_m.astype(np.float64))
    log_ratio -= log_ratio[nearest[:, 0]]
    return rms(log_ratio)

"""What heads share that fill the image from the anchors around a pixel."""

from typing import Final

import numpy as np
from scipy import ndimage
from scipy.spatial import QhullError, cKDTree

from mrac.conventions import FloatArray
from mrac.delaunay import fill_triangles
from mrac.fit.base import UNCHECKED_SPREAD
from mrac.head.affine import SIGMA_SHARE
from mrac.head.base import Scene
from mrac.vi_depth.alignment import PixelReadings, readings_on_pixels
from mrac.vi_depth.ranges import Ranges

_ANY: Final = Ranges(min_depth_m=1e-6, max_depth_m=1e6, min_pred_m=1e-6, max_pred_m=1e6)


def readings_of(scene: Scene) -> PixelReadings:
    """The kept anchors, one per pixel: of several the nearest to the camera, which hides the others."""
    kept = scene.samples.trusted
    return readings_on_pixels(kept.uv_px, kept.z_m, scene.shape, _ANY)


def nearest_map(readings: PixelReadings, values: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """(H, W) float32, at each pixel the value (K,) of the nearest reading, K >= 1."""
    at = np.zeros(shape, np.float32)
    elsewhere = np.ones(shape, np.bool_)
    u, v = readings.uv_px.T
    at[v, u], elsewhere[v, u] = values, False
    rows, columns = ndimage.distance_transform_edt(elsewhere, return_distances=False, return_indices=True)
    return np.asarray(at[rows, columns])


def linear_over_triangles(readings: PixelReadings, values: FloatArray, dense: FloatArray) -> str:
    """Writes (K,) values, linear on each triangle between readings, into (H, W) float32 `dense`; returns a status.

    The status is `ok`, or says why there is no triangle and nothing was written: `too_few_anchors` (fewer than three)
    or `collinear_anchors`.
    """
    if len(readings) < 3:
        return "too_few_anchors"
    try:
        fill_triangles(readings.uv_px, values, dense)
    except QhullError:
        return "collinear_anchors"
    return "ok"


def share_between(readings: PixelReadings) -> float:
    """The deviation between readings as a share of depth: how far they differ from their nearest neighbours' depth."""
    if len(readings) < 2:
        return UNCHECKED_SPREAD
    _, nearest = cKDTree(readings.uv_px).query(readings.uv_px, k=[2])
    log_ratio = np.log(readings.inv_z_per_m.astype(np.float64))
    log_ratio -= log_ratio[nearest[:, 0]]
    return float(np.clip(np.sqrt(np.mean(log_ratio**2)), *SIGMA_SHARE))

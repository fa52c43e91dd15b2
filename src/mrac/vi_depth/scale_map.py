"""VI-Depth's scale map: ratio of readings to alignment, interpolated linearly over Delaunay triangles."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.spatial import QhullError

from mrac.conventions import FloatArray
from mrac.delaunay import fill_triangles
from mrac.vi_depth.alignment import PixelReadings

_OUTSIDE: Final = 1.0  # beyond the readings' convex hull the alignment is not scaled
MIN_READINGS: Final = 3
# VI-Depth's own limit is 2e-16. But ratios of single precision that should be equal differ by up to 4e-7, and the
# network's input would be that noise, stretched to [0, 1].
_FLAT: Final = 1e-6


@dataclass(frozen=True, eq=False)
class ScaleMap:
    """The ratio of the readings' inverse depth to the alignment's.

    Attributes:
        ratio: (H, W) float32; above 1 is nearer than the alignment, 1 outside the readings' convex hull.
        unit: (H, W) float32, the ratio stretched to [0, 1] over this image, the network's input; None unless the
            status is `ok`. The network then has nothing to refine, and the result is the alignment: VI-Depth itself
            fails on such a frame.
        status: `ok`, `too_few_anchors` (fewer than three), `collinear_anchors` or `flat_scale_map`.
    """

    ratio: FloatArray
    unit: FloatArray | None
    status: str = "ok"


def scale_map(aligned_per_m: FloatArray, readings: PixelReadings) -> ScaleMap:
    """Interpolates the ratio of the readings to the alignment.

    Args:
        aligned_per_m: (H, W) inverse depth after the alignment and its limits, > 0.
        readings: K of them; the map has their ratio exactly.
    """
    if len(readings) < MIN_READINGS:
        return _nothing_to_refine(aligned_per_m, "too_few_anchors")
    try:
        ratio = _interpolated(readings, readings.inv_z_per_m / readings.at(aligned_per_m), aligned_per_m.shape)
    except QhullError:  # there is no triangle
        return _nothing_to_refine(aligned_per_m, "collinear_anchors")
    low, high = ratio.min(), ratio.max()
    if high - low <= _FLAT:
        return ScaleMap(ratio, None, "flat_scale_map")
    return ScaleMap(ratio, (ratio - low) / (high - low))


def _nothing_to_refine(aligned_per_m: FloatArray, status: str) -> ScaleMap:
    return ScaleMap(np.full(aligned_per_m.shape, np.float32(_OUTSIDE)), None, status)


def _interpolated(readings: PixelReadings, ratio: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """(K,) values at the readings as an (H, W) float32 map, linear on each Delaunay triangle, as VI-Depth does."""
    dense = np.full(shape, np.float32(_OUTSIDE))
    fill_triangles(readings.uv_px, ratio, dense)
    return dense

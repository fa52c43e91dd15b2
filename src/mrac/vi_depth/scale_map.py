"""VI-Depth's scale map: how far the alignment is off at the readings, interpolated over the triangles between them."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay, QhullError

from mrac.conventions import FloatArray
from mrac.jit import kernel
from mrac.vi_depth.alignment import PixelReadings

_OUTSIDE: Final = 1.0  # beyond the readings' convex hull the alignment is taken as it is
MIN_READINGS: Final = 3
# VI-Depth gives up at 2e-16 only. But ratios of single precision that should be equal differ by up to 4e-7, and that
# noise, stretched to [0, 1], is then all that the network sees.
_FLAT: Final = 1e-6


@dataclass(frozen=True, eq=False)
class ScaleMap:
    """The factor between the readings' inverse depth and the alignment's.

    Attributes:
        ratio: (H, W) float32; above 1 is nearer than the alignment says, 1 outside the readings' convex hull.
        unit: (H, W) float32, the ratio stretched to [0, 1] over this image, as the network takes it; None unless the
            status is `ok`. There is then nothing for the network to refine, and the alignment is the best answer:
            VI-Depth itself fails on such a frame.
        status: `ok`, `too_few_anchors` (fewer than three), `collinear_anchors` or `flat_scale_map`.
    """

    ratio: FloatArray
    unit: FloatArray | None
    status: str = "ok"


def scale_map(aligned_per_m: FloatArray, readings: PixelReadings) -> ScaleMap:
    """Interpolates the ratio of the readings to the alignment.

    Args:
        aligned_per_m: (H, W) inverse depth after the alignment and its limits, > 0.
        readings: K of them; their ratio is met exactly.
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
    """(K,) values at the readings as an (H, W) float32 map, linear on each Delaunay triangle.

    It is scipy's `griddata`, which VI-Depth calls, on the same triangles. Scipy itself solves a 2 × 2 system with
    LAPACK for each of them, whose threads wait for each other where other processes keep the cores busy: 1500 readings
    then took it 6 s in place of 20 ms.
    """
    triangles = Delaunay(readings.uv_px.astype(np.float64)).simplices
    dense = np.full(shape, np.float32(_OUTSIDE))
    _fill_triangles(triangles.astype(np.int64), readings.uv_px.astype(np.int64), ratio.astype(np.float64), dense)
    return dense


@kernel
def _fill_triangles(
    triangles: NDArray[np.int64], uv_px: NDArray[np.int64], values: FloatArray, dense: FloatArray
) -> None:
    """Writes what (T, 3) triangles between (K, 2) pixels with (K,) values hold, borders included, into (H, W) `dense`.

    Positions are whole, so that which pixel lies on a border is decided exactly.
    """
    for t in range(len(triangles)):
        a, b, c = triangles[t]
        bu, bv = uv_px[b, 0] - uv_px[a, 0], uv_px[b, 1] - uv_px[a, 1]
        cu, cv = uv_px[c, 0] - uv_px[a, 0], uv_px[c, 1] - uv_px[a, 1]
        area = bu * cv - bv * cu
        if area == 0:  # Qhull may close a straight piece of the hull with one
            continue
        sign = 1 if area > 0 else -1
        for v in range(min(0, bv, cv), max(0, bv, cv) + 1):
            for u in range(min(0, bu, cu), max(0, bu, cu) + 1):
                # Twice the areas opposite to b and to c: barycentric coordinates, times `area`.
                at_b, at_c = sign * (u * cv - v * cu), sign * (bu * v - bv * u)
                at_a = sign * area - at_b - at_c
                if at_a >= 0 and at_b >= 0 and at_c >= 0:
                    value = (at_a * values[a] + at_b * values[b] + at_c * values[c]) / (sign * area)
                    dense[uv_px[a, 1] + v, uv_px[a, 0] + u] = value

"""Linear interpolation of values at scattered pixels over their Delaunay triangulation."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from mrac.conventions import FloatArray
from mrac.runtime.jit import kernel


def fill_triangles(uv_px: NDArray[np.intp], values: FloatArray, dense: FloatArray) -> None:
    """Writes the interpolation into `dense`, whose values outside the convex hull stay as they are.

    It is scipy's `griddata` on the same triangles. Scipy itself solves a 2 × 2 system with LAPACK for each of them,
    whose threads wait for each other where other processes keep the cores busy: 1500 pixels then took it 6 s in place
    of 20 ms.

    Args:
        uv_px: (K, 2) whole pixels inside the image, K >= 3, all different.
        values: (K,).
        dense: (H, W).

    Raises:
        QhullError: all pixels are on one straight line, so there is no triangle.
    """
    triangles = Delaunay(uv_px.astype(np.float64)).simplices
    _fill(triangles.astype(np.int64), uv_px.astype(np.int64), values.astype(np.float64), dense)


@kernel
def _fill(triangles: NDArray[np.int64], uv_px: NDArray[np.int64], values: FloatArray, dense: FloatArray) -> None:
    """Writes the interpolation over (T, 3) triangles of (K, 2) pixels with (K,) values into (H, W) `dense`.

    Borders are included. Positions are integers, so that the test whether a pixel is on a border is exact.
    """
    for t in range(len(triangles)):
        a, b, c = triangles[t]
        bu, bv = uv_px[b, 0] - uv_px[a, 0], uv_px[b, 1] - uv_px[a, 1]
        cu, cv = uv_px[c, 0] - uv_px[a, 0], uv_px[c, 1] - uv_px[a, 1]
        area = bu * cv - bv * cu
        if area == 0:  # Qhull may make degenerate triangles on the hull
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

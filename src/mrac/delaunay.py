"""Values at scattered pixels, interpolated linearly over the Delaunay triangles between them."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from mrac.conventions import FloatArray
from mrac.runtime.jit import kernel


def fill_triangles(uv_px: NDArray[np.intp], values: FloatArray, dense: FloatArray) -> None:
    """Writes the interpolation into `dense`, which keeps what it has outside the convex hull.

    It is scipy's `griddata` on the same triangles. Scipy itself solves a 2 × 2 system with LAPACK for each of them,
    whose threads wait for each other where other processes keep the cores busy: 1500 pixels then took it 6 s in place
    of 20 ms.

    Args:
        uv_px: (K, 2) whole pixels inside the image, K >= 3, no two alike.
        values: (K,).
        dense: (H, W).

    Raises:
        QhullError: there is no triangle, all pixels lying on one straight line.
    """
    triangles = Delaunay(uv_px.astype(np.float64)).simplices
    _fill(triangles.astype(np.int64), uv_px.astype(np.int64), values.astype(np.float64), dense)


@kernel
def _fill(triangles: NDArray[np.int64], uv_px: NDArray[np.int64], values: FloatArray, dense: FloatArray) -> None:
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

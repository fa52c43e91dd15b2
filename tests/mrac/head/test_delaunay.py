import numpy as np
import pytest

from mrac.head.delaunay import Delaunay
from mrac.head.nearest import Nearest
from tests.mrac.head.scenes import scene

CORNERS = [[0, 0], [59, 0], [0, 39], [59, 39]]


def test_a_plane_in_the_world_is_met_exactly_in_inverse_depth_and_not_in_depth() -> None:
    v, u = np.mgrid[0:40, 0:60]
    inv_z = 0.1 + 0.004 * u + 0.01 * v
    z_m = [1 / inv_z[v, u] for u, v in CORNERS]
    inverse, plain = (Delaunay()(scene(None, CORNERS, z_m, space)).depth_m for space in ("inverse_depth", "depth"))
    np.testing.assert_allclose(inverse, 1 / inv_z, rtol=1e-5)
    assert np.abs(plain * inv_z - 1).max() > 0.2


def test_outside_the_hull_the_nearest_anchor_counts() -> None:
    made = scene(None, [[10, 10], [30, 10], [10, 30]], [1.0, 2.0, 3.0], "depth")
    linear, nearest = Delaunay()(made).depth_m, Nearest()(made).depth_m
    v, u = np.mgrid[0:40, 0:60]
    inside = (u >= 10) & (v >= 10) & (u + v <= 40)
    np.testing.assert_array_equal(linear[~inside], nearest[~inside])
    np.testing.assert_allclose(linear[inside], (1 + (u - 10) / 20 + (v - 10) / 10)[inside], rtol=1e-5)


@pytest.mark.parametrize(
    ("pixels", "status"),
    [([[3, 3], [9, 3]], "too_few_anchors"), ([[3, 3], [9, 3], [30, 3], [50, 3]], "collinear_anchors")],
)
def test_without_a_triangle_it_is_the_nearest(pixels: list[list[int]], status: str) -> None:
    made = scene(None, pixels, np.arange(1.0, len(pixels) + 1), "depth")
    result = Delaunay()(made)
    np.testing.assert_allclose(result.depth_m, Nearest()(made).depth_m, rtol=1e-6)
    assert result.status == status

import numpy as np
import pytest
from scipy.interpolate import griddata
from scipy.spatial import QhullError

from mrac.delaunay import fill_triangles


def test_is_scipy_s_griddata_and_leaves_the_outside_alone() -> None:
    rng = np.random.default_rng(0)
    v, u = np.divmod(rng.choice(60 * 80, 40, replace=False), 80)
    values = rng.uniform(1.0, 9.0, 40)
    dense = np.full((60, 80), np.float32(-1.0))
    fill_triangles(np.stack([u, v], axis=1), values, dense)
    grid_v, grid_u = np.mgrid[0:60, 0:80]
    expected = griddata((u, v), values, (grid_u, grid_v), method="linear", fill_value=-1.0)
    np.testing.assert_allclose(dense, expected, rtol=1e-5)
    assert (dense == -1.0).any()


def test_a_straight_line_has_no_triangle() -> None:
    with pytest.raises(QhullError):
        fill_triangles(np.array([[0, 0], [2, 1], [4, 2]]), np.ones(3), np.zeros((5, 5), np.float32))

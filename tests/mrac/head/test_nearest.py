import numpy as np
from scipy.spatial import cKDTree

from mrac.head.nearest import Nearest
from tests.mrac.head.scenes import scene


def test_every_pixel_has_the_depth_of_its_nearest_anchor() -> None:
    rng = np.random.default_rng(0)
    pixels = np.stack([*np.divmod(rng.choice(40 * 60, 25, replace=False), 60)][::-1], axis=1)
    z_m = rng.uniform(1, 9, 25)
    depth_m = Nearest()(scene(None, pixels, z_m, "depth")).depth_m
    v, u = np.mgrid[0:40, 0:60]
    two, which = cKDTree(pixels).query(np.stack([u, v], axis=-1), k=2)
    clear = two[..., 0] < two[..., 1]
    np.testing.assert_allclose(depth_m[clear], z_m[which[..., 0]][clear], rtol=1e-6)


def test_the_deviation_is_how_far_neighbours_differ() -> None:
    equal = Nearest()(scene(None, [[0, 0], [9, 0], [30, 20]], [2.0, 2.0, 2.0], "depth"))
    doubling = Nearest()(scene(None, [[0, 0], [9, 0], [30, 20]], [2.0, 4.0, 8.0], "depth"))
    np.testing.assert_allclose(equal.sigma_m, 1e-3 * equal.depth_m, rtol=1e-5)
    np.testing.assert_allclose(doubling.sigma_m, np.log(2.0) * doubling.depth_m, rtol=1e-5)


def test_outliers_are_left_out() -> None:
    depth_m = Nearest()(scene(None, [[0, 0], [9, 0]], [2.0, 40.0], "depth", weight=[1.0, 0.3])).depth_m
    assert (depth_m == 2.0).all()

import numpy as np
import pytest
from scipy.interpolate import griddata

from mrac.vi_depth.alignment import PixelReadings
from mrac.vi_depth.scale_map import scale_map


def readings_of(uv_px: list[list[int]], inv_z: list[float]) -> PixelReadings:
    return PixelReadings(np.array(uv_px), np.array(inv_z, np.float32))


@pytest.mark.parametrize("shape", [(9, 11), (64, 65), (131, 77), (200, 30)])
@pytest.mark.parametrize("num", [3, 4, 12, 60])
def test_is_scipy_s_griddata_with_ones_outside_the_hull(shape: tuple[int, int], num: int) -> None:
    rng = np.random.default_rng(num)
    pixels = rng.choice(shape[0] * shape[1], num, replace=False)
    v, u = np.divmod(pixels, shape[1])
    readings = PixelReadings(np.stack([u, v], axis=1), rng.uniform(0.3, 3.0, num).astype(np.float32))
    aligned = rng.uniform(0.2, 4.0, shape).astype(np.float32)
    got = scale_map(aligned, readings)
    grid_v, grid_u = np.mgrid[0 : shape[0], 0 : shape[1]]
    ratio = readings.inv_z_per_m / aligned[v, u]
    expected = griddata((u, v), ratio, (grid_u, grid_v), method="linear", fill_value=1.0)
    np.testing.assert_allclose(got.ratio, expected, rtol=1e-6)
    assert got.status == "ok"
    assert got.ratio.dtype == np.float32
    np.testing.assert_allclose(got.ratio[v, u], ratio, rtol=1e-6)
    assert got.unit is not None
    np.testing.assert_allclose(got.unit, (expected - expected.min()) / np.ptp(expected), atol=1e-6)
    assert (got.unit.min(), got.unit.max()) == (0.0, 1.0)
    assert got.unit.dtype == np.float32


def test_is_linear_on_a_triangle_and_one_beyond_it() -> None:
    aligned = np.full((5, 5), np.float32(0.5))
    got = scale_map(aligned, readings_of([[0, 0], [4, 0], [0, 4]], [1.0, 2.0, 3.0]))
    v, u = np.mgrid[0:5, 0:5]
    np.testing.assert_allclose(got.ratio, np.where(u + v <= 4, 2.0 + 0.5 * u + 1.0 * v, 1.0), rtol=1e-6)


def test_a_regular_grid_reaches_its_border() -> None:
    """Four readings on each circle, many on each side of the hull: what triangulations find hard."""
    v, u = np.mgrid[2:40:4, 3:60:4]
    readings = PixelReadings(np.stack([u.ravel(), v.ravel()], axis=1), (2.0 + 0.01 * u + 0.03 * v).ravel().astype("f4"))
    got = scale_map(np.ones((45, 64), np.float32), readings)
    grid_v, grid_u = np.mgrid[0:45, 0:64]
    inside = (grid_u >= 3) & (grid_u <= u.max()) & (grid_v >= 2) & (grid_v <= v.max())
    np.testing.assert_allclose(got.ratio, np.where(inside, 2.0 + 0.01 * grid_u + 0.03 * grid_v, 1.0), rtol=1e-6)


@pytest.mark.parametrize("num", [0, 1, 2])
def test_fewer_than_three_readings_leave_nothing_to_refine(num: int) -> None:
    readings = PixelReadings(np.array([[0, 0], [4, 3]])[:num], np.array([2.0, 3.0], np.float32)[:num])
    got = scale_map(np.ones((6, 7), np.float32), readings)
    assert (got.status, got.unit) == ("too_few_anchors", None)
    assert (got.ratio == 1.0).all()


@pytest.mark.parametrize("step", [(1, 0), (0, 1), (1, 1), (2, 7), (-3, 5)])
def test_readings_on_one_line_have_no_triangle(step: tuple[int, int]) -> None:
    uv_px = [[30 + step[0] * n, step[1] * n] for n in range(8)]
    got = scale_map(np.ones((60, 60), np.float32), readings_of(uv_px, [1.0 + 0.1 * n for n in range(8)]))
    assert (got.status, got.unit) == ("collinear_anchors", None)
    assert (got.ratio == 1.0).all()


def test_a_perfect_alignment_leaves_nothing_to_refine() -> None:
    got = scale_map(np.full((6, 7), np.float32(0.7)), readings_of([[0, 0], [4, 3], [6, 0], [0, 5]], [0.7] * 4))
    assert (got.status, got.unit) == ("flat_scale_map", None)

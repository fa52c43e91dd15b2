import numpy as np
import pytest

from mrac import ContractError
from mrac.vi_depth.alignment import PixelReadings, align, readings_on_pixels
from mrac.vi_depth.ranges import VOID, Ranges

OUTDOOR = Ranges(max_depth_m=80.0, max_pred_m=80.0)


def made(num: int, shape: tuple[int, int] = (37, 53), seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A relative map, and readings scattered over distinct pixels of it that lie near a line, within VOID's range."""
    rng = np.random.default_rng(seed)
    relative = rng.uniform(0.0, 30.0, shape).astype(np.float32)
    pixels = rng.choice(shape[0] * shape[1], num, replace=False)
    v, u = np.divmod(pixels, shape[1])
    inv_z = 0.3 + 0.05 * relative[v, u] + rng.normal(0.0, 0.05, num)
    return relative, np.stack([u, v], axis=1).astype(np.float64), 1.0 / inv_z


@pytest.mark.parametrize("num", [2, 3, 5, 150, 1500])
def test_the_line_is_numpy_s_least_squares(num: int) -> None:
    relative, uv_px, z_m = made(num)
    readings = readings_on_pixels(uv_px, z_m, relative.shape, VOID)
    assert len(readings) > num // 2
    got = align(relative, readings, VOID)
    x = readings.at(relative).astype(np.float64)
    (scale, shift), *_ = np.linalg.lstsq(np.stack([x, np.ones_like(x)], axis=1), readings.inv_z_per_m, rcond=None)
    assert (got.scale, got.shift) == pytest.approx((scale, shift), rel=1e-9)
    assert got.status == "ok"
    np.testing.assert_allclose(got.inv_z_per_m, np.clip(scale * relative + shift, 1 / 8, 10), rtol=1e-6)
    assert got.inv_z_per_m.dtype == np.float32


def test_a_falling_line_is_kept() -> None:
    relative = np.arange(12, dtype=np.float32).reshape(3, 4)
    readings = PixelReadings(np.array([[0, 0], [3, 2]]), np.array([2.0, 1.0], np.float32))
    got = align(relative, readings, VOID)
    assert (got.scale, got.shift) == pytest.approx((-1 / 11, 2.0))


@pytest.mark.parametrize("size", [1e-38, 1e-30, 1.0, 1e30, 1e38])
def test_relative_values_of_any_size_give_the_same_map(size: float) -> None:
    relative, uv_px, z_m = made(50)
    readings = readings_on_pixels(uv_px, z_m, relative.shape, VOID)
    scaled = align((relative / 30 * size).astype(np.float32), readings, VOID)
    np.testing.assert_allclose(scaled.inv_z_per_m, align(relative, readings, VOID).inv_z_per_m, rtol=1e-5)


@pytest.mark.parametrize("num", [0, 1])
def test_without_two_readings_the_map_lies_at_the_far_limit(num: int) -> None:
    relative, uv_px, z_m = made(5)
    readings = readings_on_pixels(uv_px[:num], z_m[:num], relative.shape, VOID)
    got = align(relative, readings, VOID)
    assert (got.scale, got.shift, got.status) == (0.0, 0.0, "constant_relative_depth")
    assert (got.inv_z_per_m == np.float32(1 / 8)).all()


def test_a_constant_relative_map_gives_no_line_however_its_sums_round() -> None:
    _, uv_px, z_m = made(151)
    got = align(np.full((37, 53), np.float32(0.1)), readings_on_pixels(uv_px, z_m, (37, 53), VOID), VOID)
    assert (got.scale, got.status) == (0.0, "constant_relative_depth")


def test_the_map_stays_within_both_limits() -> None:
    relative = np.linspace(-500.0, 500.0, 100, dtype=np.float32).reshape(10, 10)
    readings = PixelReadings(np.array([[4, 4], [5, 5]]), np.array([1.0, 4.0], np.float32))
    got = align(relative, readings, VOID).inv_z_per_m
    assert (got.min(), got.max()) == (np.float32(1 / 8), np.float32(10.0))
    far = align(relative, readings, OUTDOOR).inv_z_per_m
    assert far.min() == np.float32(1 / 80)


def test_bounds_of_readings_are_strict_and_nan_does_not_count() -> None:
    z_m = np.array([0.2, np.nextafter(np.float32(0.2), np.float32(1.0)), 4.9999, 5.0, 0.0, -1.0, np.nan, np.inf, 1e300])
    uv_px = np.stack([np.arange(9.0), np.zeros(9)], axis=1)
    readings = readings_on_pixels(uv_px, z_m, (1, 9), VOID)
    assert readings.uv_px[:, 0].tolist() == [1, 2]
    np.testing.assert_allclose(readings.inv_z_per_m, [1 / 0.2, 1 / 4.9999], rtol=1e-6)


def test_the_caller_s_arrays_stay_as_they_are() -> None:
    relative, uv_px, z_m = made(20)
    copies = relative.copy(), uv_px.copy(), z_m.copy()
    align(relative, readings_on_pixels(uv_px, z_m, relative.shape, VOID), VOID)
    for after, before in zip((relative, uv_px, z_m), copies, strict=True):
        np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0]])
def test_of_readings_in_one_pixel_the_nearest_stays_in_whatever_order(order: list[int]) -> None:
    uv_px = np.array([[3.4, 1.0], [2.6, 0.5], [-0.5, 1.49], [0.2, 0.9]])[order]
    readings = readings_on_pixels(uv_px, np.array([2.0, 1.0, 4.0, 3.0])[order], (2, 4), VOID)
    assert readings.uv_px.tolist() == [[0, 1], [3, 1]]
    np.testing.assert_allclose(readings.inv_z_per_m, [1 / 3, 1.0])


@pytest.mark.parametrize("uv", [(-0.6, 0.0), (0.0, 1.6), (4.0, 0.0), (np.nan, 0.0), (0.0, np.inf)])
def test_a_reading_outside_the_image_is_a_mistake(uv: tuple[float, float]) -> None:
    with pytest.raises(ContractError, match="inside the image of 4 × 2 pixels"):
        readings_on_pixels(np.array([uv]), np.array([1.0]), (2, 4), VOID)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_depth_m": 80.0}, "predictions from 0.1 to 8 m do not cover readings from 0.2 to 80 m"),
        ({"min_depth_m": 0.05}, "do not cover"),
        ({"min_depth_m": 6.0}, "the first must be the smaller one"),
        ({"min_pred_m": 0.0}, "Ranges.min_pred_m"),
        ({"max_pred_m": float("inf")}, "Ranges.max_pred_m"),
    ],
)
def test_ranges_that_make_no_sense_are_named(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ContractError, match=message):
        Ranges(**wrong)


def test_depth_is_within_the_range_even_where_the_last_resize_overshot() -> None:
    depth_m = VOID.depth_m(np.array([[-0.96, 0.0, 0.071, 0.5, 11.0]], np.float32))
    np.testing.assert_allclose(depth_m, [[8.0, 8.0, 8.0, 2.0, 0.1]])

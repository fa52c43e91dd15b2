import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from mrac import ContractError, RelativeDepth
from mrac.relative import fill_invalid, in_space, sample_areas, sample_bilinear, typical_range
from mrac.space import SPACES, as_space


@given(st.data())
def test_bilinear_equals_scipy(data: st.DataObject) -> None:
    H, W = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    field = np.random.default_rng(H * 7 + W).random((H, W)).astype(np.float32)
    u = data.draw(st.floats(-0.5, W - 0.5))
    v = data.draw(st.floats(-0.5, H - 0.5))
    expected = ndimage.map_coordinates(field.astype(np.float64), [[v], [u]], order=1, mode="nearest")
    np.testing.assert_allclose(sample_bilinear(field, np.array([[u, v]])), expected, atol=1e-7)


def test_bilinear_is_exact_on_a_ramp() -> None:
    v, u = np.mgrid[0:20, 0:30].astype(np.float32)
    uv = np.random.default_rng(0).uniform(0, 19, (50, 2))
    np.testing.assert_allclose(sample_bilinear(2 * u + 3 * v, uv), uv @ [2, 3], atol=1e-4)


def test_holes_take_the_nearest_value_and_sky_the_farthest() -> None:
    values = np.array([[1.0, np.nan, 5.0, np.inf, -np.inf]])
    filled, own = fill_invalid(RelativeDepth(values, "depth"))
    np.testing.assert_array_equal(filled, [[1.0, filled[0, 1], 5.0, 5.0, 5.0]])
    assert filled[0, 1] in (1.0, 5.0)
    np.testing.assert_array_equal(own, [[True, False, True, False, False]])


def test_infinite_inverse_depth_is_a_hole() -> None:
    filled, _ = fill_invalid(RelativeDepth([[1.0, np.inf, 7.0, 7.0]], "inverse_depth"))
    assert filled[0, 1] in (1.0, 7.0)


def test_nothing_finite_is_refused() -> None:
    with pytest.raises(ContractError, match="none of the 4 values is finite"):
        fill_invalid(RelativeDepth(np.full((2, 2), np.nan), "depth"))


@pytest.mark.parametrize(("space", "sign"), [("depth", 1), ("inverse_depth", -1)])
def test_log_depth_becomes_depth_up_to_a_factor(space: str, sign: int) -> None:
    z = np.random.default_rng(0).uniform(0.5, 30.0, (5, 7))
    for shift in (0.0, 3.0, -200.0):
        converted = in_space(RelativeDepth(np.log(z) + shift, "log_depth"), as_space(space))
        assert converted.space == space
        ratio = converted.values / z**sign
        np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-4)


def test_conversion_keeps_what_is_not_a_number_in_its_meaning() -> None:
    field = RelativeDepth(np.array([[0.0, np.nan, np.inf, -np.inf]]), "log_depth")
    np.testing.assert_array_equal(in_space(field, "depth").values, [[1.0, np.nan, np.inf, np.nan]])
    np.testing.assert_array_equal(in_space(field, "inverse_depth").values, [[1.0, np.nan, 0.0, np.nan]])


def test_conversion_never_overflows() -> None:
    for space in SPACES:
        values = in_space(RelativeDepth(np.array([[-3e38, 0.0, 3e38]]), "log_depth"), space).values
        assert np.isfinite(values).all()


def test_fields_of_unknown_shift_go_in_as_they_are() -> None:
    for own in ("depth", "inverse_depth"):
        field = RelativeDepth(np.ones((2, 2)), as_space(own))
        assert all(in_space(field, space) is field for space in SPACES)


@pytest.mark.parametrize("shape", [(1, 1), (7, 500), (1000, 1500)])
def test_what_is_typical_leaves_the_tails_out(shape: tuple[int, int]) -> None:
    field = np.random.default_rng(0).random(shape).astype(np.float32)
    field.ravel()[: field.size // 200] = 1e6
    low, high = typical_range(field)
    np.testing.assert_allclose([low, high], np.percentile(field, [2.0, 98.0]), atol=0.01)


def test_points_are_sampled_as_ever_and_areas_by_the_mean_of_depth() -> None:
    field = (0.2 * np.random.default_rng(0).normal(size=(20, 30))).astype(np.float32)
    uv = np.array([[4.5, 3.5], [29.0, 19.0], [7.25, 8.5], [3.3, 3.3]])
    extent = np.array([[4.0, 2.0], [6.0, 6.0], [0.0, 0.0], [0.2, 0.2]])
    points = sample_bilinear(field, uv)
    np.testing.assert_array_equal(sample_areas(field, uv, None, "log_depth"), points)
    np.testing.assert_array_equal(sample_areas(field, uv, 0 * extent, "log_depth"), points)
    x = sample_areas(field, uv, extent, "log_depth")
    np.testing.assert_allclose(x[0], np.log(np.exp(field[3:5, 3:7].astype(float)).mean()))
    np.testing.assert_allclose(x[1], np.log(np.exp(field[16:, 26:].astype(float)).mean()))  # clipped at the border
    np.testing.assert_array_equal(x[2:], points[2:])  # the last holds no pixel's centre
    for space in ("depth", "inverse_depth"):
        np.testing.assert_allclose(
            sample_areas(field, uv, extent, as_space(space))[0], field[3:5, 3:7].mean(), rtol=1e-5
        )


def test_sky_is_no_part_of_an_area() -> None:
    field = np.ones((20, 20), np.float32)
    field[:8] = 6.0
    x = sample_areas(field, np.array([[9.5, 9.5]]), np.array([[19.0, 19.0]]), "log_depth")
    np.testing.assert_allclose(x, 1.0, atol=1e-6)

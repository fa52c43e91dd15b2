import numpy as np
import pytest
from scipy import ndimage

from mrac.lab.foundation_faults import FAULTS
from mrac.types import RelativeDepth


def field(seed: int = 0, shape: tuple[int, int] = (48, 64)) -> RelativeDepth:
    noise = np.random.default_rng(seed).standard_normal(shape)
    return RelativeDepth(0.3 + 4.0 * ndimage.gaussian_filter(noise, 3.0) + np.arange(shape[1]) / 90.0, "log_depth")


def spoilt(fault: str, seed: int = 0) -> RelativeDepth:
    return FAULTS[fault](field(), field(1, (30, 40)), np.random.default_rng(seed))


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_gives_a_field_of_the_same_size_that_is_another_and_depends_on_the_generator_alone(
    fault: str,
) -> None:
    made, again = spoilt(fault), spoilt(fault)
    assert made.values.shape == field().values.shape
    assert np.isfinite(made.values).all()
    np.testing.assert_array_equal(made.values, again.values)
    assert made.space != field().space or not np.array_equal(made.values, field().values)


@pytest.mark.parametrize("fault", ["white_noise", "smooth_noise", "ramp_right", "ramp_down"])
def test_what_has_nothing_of_the_scene_has_the_range_of_its_field(fault: str) -> None:
    made = spoilt(fault).values
    assert made.mean() == pytest.approx(field().values.mean(), abs=1e-4)
    assert made.std() == pytest.approx(field().values.std(), rel=1e-4)


def test_noise_is_white_or_smooth() -> None:
    white, smooth = (np.abs(np.diff(spoilt(name).values)).mean() for name in ("white_noise", "smooth_noise"))
    assert white > 5.0 * smooth
    assert not np.array_equal(spoilt("white_noise", 1).values, spoilt("white_noise").values)


def test_ramps_rise_to_the_right_and_downwards() -> None:
    assert (np.diff(spoilt("ramp_right").values, axis=1) > 0).all()
    assert (np.diff(spoilt("ramp_right").values, axis=0) == 0).all()
    assert (np.diff(spoilt("ramp_down").values, axis=0) > 0).all()


def test_the_field_of_another_image_is_that_one() -> None:
    other = field(1, (48, 64))
    made = FAULTS["other_image"](field(), other, np.random.default_rng(0))
    np.testing.assert_array_equal(made.values, other.values)


def test_turned_negative_blurred_quantised_constant() -> None:
    values = field().values
    np.testing.assert_array_equal(spoilt("upside_down").values, values[::-1])
    np.testing.assert_array_equal(spoilt("wrong_sign").values, -values)
    assert np.abs(np.diff(spoilt("blurred").values)).max() < 0.3 * np.abs(np.diff(values)).max()
    levels = np.unique(spoilt("quantised").values)
    assert len(levels) == 8
    assert (levels[0], levels[-1]) == pytest.approx((values.min(), values.max()))
    assert np.ptp(spoilt("constant").values) == 0.0


@pytest.mark.parametrize(("fault", "space"), [("log_as_inverse", "inverse_depth"), ("log_as_depth", "depth")])
def test_the_wrong_space_is_only_said(fault: str, space: str) -> None:
    made = spoilt(fault)
    assert made.space == space
    np.testing.assert_array_equal(made.values, field().values)


def test_inverse_depth_said_to_be_log_depth_falls_where_depth_rises() -> None:
    made, values = spoilt("inverse_as_log"), field().values
    assert made.space == "log_depth"
    np.testing.assert_allclose(made.values, np.exp(np.median(values) - values), rtol=1e-5)


def test_a_constant_field_can_be_spoilt() -> None:
    flat = RelativeDepth(np.ones((5, 6)), "log_depth")
    for fault in FAULTS.values():
        assert np.isfinite(fault(flat, flat, np.random.default_rng(0)).values).all()

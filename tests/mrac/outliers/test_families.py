"""The numbers of the design, family by family."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import maximum_filter, minimum_filter

from mrac import ContractError, registry
from mrac.outliers.base import Truth
from mrac.outliers.dropout import Dropout
from mrac.outliers.gaussian import Gaussian
from mrac.outliers.mixed_pixel import MixedPixel
from mrac.outliers.near import Near
from mrac.outliers.uniform import Uniform
from tests.contract.test_outlier import scene


def test_near_is_what_the_first_published_demo_drew_to_the_bit() -> None:
    truth = scene(50)
    z_m, wrong = Near()(truth, 0.25, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    chosen = rng.choice(50, 12, replace=False)
    assert sorted(chosen) == np.flatnonzero(wrong).tolist()
    np.testing.assert_array_equal(z_m[chosen], np.maximum(truth.z_m * rng.uniform(0.2, 0.6, 50), 0.1)[chosen])


def test_uniform_spans_the_image_s_depth_not_the_anchors() -> None:
    truth = scene(1000)
    few = Truth(uv_px=truth.uv_px[:1].repeat(1000, 0), z_m=np.full(1000, 2.0), truth_m=truth.truth_m, max_range_m=10.0)
    z_m, _ = Uniform()(few, 1.0, np.random.default_rng(0))
    low, high = float(np.nanmin(truth.truth_m)), float(np.nanmax(truth.truth_m))
    assert low <= z_m.min() < low + 0.05
    assert high - 0.05 < z_m.max() <= high
    assert np.histogram(z_m, 4, (low, high))[0] == pytest.approx([250] * 4, abs=50)


def test_dropout_is_one_depth_the_data_set_s() -> None:
    truth = scene(40)
    for max_range_m in (10.0, 80.0):
        said = Truth(uv_px=truth.uv_px, z_m=truth.z_m, truth_m=truth.truth_m, max_range_m=max_range_m)
        z_m, wrong = Dropout()(said, 0.25, np.random.default_rng(0))
        assert set(z_m[wrong]) == {max_range_m}


def test_mixed_pixels_blend_the_ends_of_a_31_pixel_window_at_the_strongest_edges_first() -> None:
    truth = scene(60)
    z_m, wrong = MixedPixel()(truth, 0.25, np.random.default_rng(0))
    u, v = truth.uv_px.T
    # An outside reference: scipy's filters, holes never the extreme, nothing beyond the border.
    fg = minimum_filter(np.nan_to_num(truth.truth_m, nan=np.inf), 31, mode="constant", cval=np.inf)[v, u]
    bg = maximum_filter(np.nan_to_num(truth.truth_m, nan=-np.inf), 31, mode="constant", cval=-np.inf)[v, u]
    edge = bg - fg
    assert edge[wrong].min() >= edge[~wrong].max()
    share = (bg - z_m)[wrong] / edge[wrong]
    assert (share >= 0.3).all()
    assert (share <= 0.7).all()
    assert np.ptp(share) > 0.25
    # A larger share takes those of a smaller one along.
    assert not (wrong & ~MixedPixel()(truth, 0.4, np.random.default_rng(1)).wrong).any()


def test_mixed_pixels_next_to_the_border_and_outside() -> None:
    truth_m = np.full((50, 50), 1.0)
    truth_m[0, 0] = 9.0
    uv_px = np.array([[15.0, 15.0], [16.0, 15.0], [-40.0, 3.0], [14.6, 15.4]])
    truth = Truth(uv_px=uv_px, z_m=np.full(4, 1.0), truth_m=truth_m, max_range_m=10.0)
    assert MixedPixel()(truth, 0.5, np.random.default_rng(0)).wrong.tolist() == [True, False, False, True]
    z_m, _ = MixedPixel()(truth, 1.0, np.random.default_rng(0))
    assert (z_m[[0, 3]] > 3).all()
    assert z_m[[1, 2]].tolist() == [1.0, 1.0]


def test_the_window_is_that_of_scipy_s_filters_at_every_pixel() -> None:
    truth_m = np.random.default_rng(1).uniform(1.0, 9.0, (23, 19))
    v, u = np.mgrid[0:23, 0:19].reshape(2, -1)
    truth = Truth(uv_px=np.stack([u, v], axis=1), z_m=truth_m.ravel(), truth_m=truth_m, max_range_m=10.0)
    foreground, background = MixedPixel(window_px=7)._edge(truth)
    np.testing.assert_array_equal(foreground, minimum_filter(truth_m, 7).ravel())
    np.testing.assert_array_equal(background, maximum_filter(truth_m, 7).ravel())


@pytest.mark.parametrize("nowhere", [[-40.0, 3.0], [3.0, -40.0], [90.0, 3.0], [3.0, 90.0]])
def test_a_window_outside_of_the_image_comes_after_one_without_an_edge(nowhere: list[float]) -> None:
    truth = Truth(
        uv_px=np.array([nowhere, [9.0, 9.0]]), z_m=np.full(2, 2.0), truth_m=np.full((20, 20), 1.0), max_range_m=10.0
    )
    assert MixedPixel()(truth, 0.5, np.random.default_rng(0)).wrong.tolist() == [False, True]
    assert MixedPixel()(truth, 1.0, np.random.default_rng(0)).z_m.tolist() == [2.0, 1.0]


def test_gaussian_adds_numpy_s_draws() -> None:
    truth = scene(50)
    rng = np.random.default_rng(7)
    rng.choice(50, 50, replace=False)
    np.testing.assert_array_equal(
        Gaussian()(truth, 1.0, np.random.default_rng(7)).z_m, truth.z_m + rng.normal(0.0, 0.1, 50)
    )


def test_gaussian_has_the_stated_deviation_and_stays_positive() -> None:
    z_m = np.full(4000, 5.0)
    truth = Truth(uv_px=np.zeros((4000, 2)), z_m=z_m, truth_m=np.full((2, 2), 5.0), max_range_m=10.0)
    noisy, wrong = registry.create("outlier", "gaussian:sigma_m=0.5")(truth, 1.0, np.random.default_rng(0))
    assert wrong.all()
    assert noisy.mean() == pytest.approx(5.0, abs=0.05)
    assert noisy.std() == pytest.approx(0.5, rel=0.05)
    near, _ = Gaussian(sigma_m=50.0)(truth, 1.0, np.random.default_rng(0))
    assert near.min() == 0.1


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("near:low=0.7", "low = 0.7 is over high = 0.6"),
        ("mixed_pixel:window_px=30", "an odd number"),
        ("mixed_pixel:window_px=32", "an odd number"),
        ("mixed_pixel:window_px=0", "from 1 to"),
        ("gaussian:sigma_m=10001", "to 10000"),
        ("mixed_pixel:high=2", "from 0 to 1"),
        ("gaussian:sigma_m=-1", "from 0 to"),
        ("dropout:max=3", "it takes none"),
    ],
)
def test_mistakes_are_named(spec: str, says: str) -> None:
    with pytest.raises(ContractError, match=says):
        registry.create("outlier", spec)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_none_or_all_may_be_wrong(share: float) -> None:
    truth = scene(9)
    z_m, wrong = Near()(truth, share, np.random.default_rng(0))
    assert (wrong == (share == 1.0)).all()
    np.testing.assert_array_equal(z_m[~wrong], truth.z_m[~wrong])


@pytest.mark.parametrize(
    "spec",
    [
        "near:low=0.4,high=0.4", "mixed_pixel:low=0.5,high=0.5", "mixed_pixel:window_px=1", "mixed_pixel:window_px=33",
        "gaussian:sigma_m=10000", "gaussian:sigma_m=0",
    ],
)  # fmt: skip
def test_the_ends_of_a_range_are_allowed(spec: str) -> None:
    z_m, wrong = registry.create("outlier", spec)(scene(9), 1.0, np.random.default_rng(0))
    assert wrong.all()
    assert (z_m > 0.0).all()


def test_mixed_pixels_leave_readings_alone_whose_place_is_half_unknown() -> None:
    truth = scene(6)
    uv_px = truth.uv_px.astype(np.float64)
    uv_px[2, 0] = uv_px[4, 1] = np.nan
    truth = replace(truth, uv_px=uv_px)
    z_m, _ = MixedPixel()(truth, 1.0, np.random.default_rng(0))
    np.testing.assert_array_equal(z_m[[2, 4]], truth.z_m[[2, 4]])

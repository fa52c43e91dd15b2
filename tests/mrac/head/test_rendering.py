"""Inputs of the learned heads: the normalised field, the anchor channel, anchors in their pixels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac.head._rendering import RATIO_LIMIT, Normalisation, anchor_values, correction_unit, render, working_size
from mrac.space import SPACES, Space, to_space
from mrac.types import FitResult, Samples

SEEDS = st.integers(0, 2**32 - 1)


def samples_at(uv_px: list[list[float]], z_m: list[float], weight: list[float] | None = None) -> Samples:
    weights = np.ones(len(z_m)) if weight is None else np.array(weight)
    return Samples(np.array(uv_px, dtype=np.float64), np.array(z_m), np.arange(len(z_m)) + 0.5, "depth", True, weights)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, size=st.sampled_from([(1, 2), (7, 9), (50, 61)]), slope=st.sampled_from([1e-6, 1.0, 1e5]))
def test_percentiles_are_order_statistics_of_all_pixels(seed: int, size: tuple[int, int], slope: float) -> None:
    x = (np.random.default_rng(seed).normal(3, 1, size) * slope).astype(np.float32)
    ordered = np.sort(x, axis=None).astype(np.float64)
    low, high = (ordered[round(share * (x.size - 1))] for share in (0.02, 0.98))
    assert Normalisation.of(x) == (low, high - low)
    np.testing.assert_array_equal(Normalisation.of(x)(x), (x.astype(np.float64) - low) / (high - low))


@pytest.mark.parametrize("level", [0.0, -3.0, 1e5])
def test_a_flat_field_is_zero(level: float) -> None:
    x = np.full((5, 6), level, np.float32)
    assert not Normalisation.of(x)(x).any()


def test_a_field_at_the_end_of_single_precision_does_not_run_over() -> None:
    x = np.linspace(-3e38, 3e38, 600, dtype=np.float32).reshape(20, 30)
    normal = Normalisation.of(x)(x)
    assert normal.min() == pytest.approx(-0.02, abs=0.01)
    assert normal.max() == pytest.approx(1.02, abs=0.01)


@pytest.mark.parametrize("space", SPACES)
def test_the_anchor_channel_holds_metres_or_the_log_ratio_to_the_fit(space: Space) -> None:
    fit = FitResult(0.0, float(to_space(2.0, space)), np.eye(2), 1.0, np.ones(4, np.bool_))
    x, z_m = np.zeros(4, np.float32), np.array([2.0, 4.0, 1e-3, 1e3])
    np.testing.assert_array_equal(anchor_values(fit, space, x, z_m, "metres"), z_m)
    expected = [0.0, np.log(2.0), -RATIO_LIMIT, RATIO_LIMIT]
    np.testing.assert_allclose(anchor_values(fit, space, x, z_m, "scale_free"), expected, atol=1e-12)


@pytest.mark.parametrize(("space", "unit"), [("depth", 4.0), ("inverse_depth", 0.25), ("log_depth", 1.0)])
def test_a_correction_is_in_units_of_y_or_in_shares_of_the_mean_depth(space: Space, unit: float) -> None:
    z_m = np.array([2.0, 8.0])
    assert correction_unit(z_m, space, "metres") == 1.0
    assert correction_unit(z_m, space, "scale_free") == pytest.approx(unit)


def test_an_anchor_lies_in_its_nearest_pixel() -> None:
    uv = [[-0.5, -0.5], [0.49, 0.0], [0.51, 0.0], [3.49, 2.49], [2.0, 1.0]]
    marks = render(samples_at(uv, [1.0, 1.0, 2.0, 3.0, 4.0]), (3, 4), (3, 4))
    assert marks.pixel.tolist() == [0, 1, 6, 11]
    np.testing.assert_allclose(marks.z_m, [1.0, 2.0, 4.0, 3.0], rtol=1e-12)


def test_several_in_one_pixel_are_their_weighted_geometric_mean() -> None:
    uv = [[1.0, 1.0], [1.2, 0.9], [0.7, 1.1], [3.0, 2.0]]
    marks = render(samples_at(uv, [1.0, 4.0, 100.0, 7.0]), (3, 4), (3, 4))
    np.testing.assert_allclose(marks.z_m, [400 ** (1 / 3), 7.0], rtol=1e-12)
    marks = render(samples_at(uv, [1.0, 4.0, 100.0, 7.0], [1.0, 1.0, 0.0, 0.5]), (3, 4), (3, 4))
    np.testing.assert_allclose(marks.z_m, [2.0, 7.0], rtol=1e-12)
    marks = render(samples_at(uv, [1.0, 4.0, 100.0, 7.0], [0.5, 1.0, 0.49, 0.0]), (3, 4), (3, 4))
    np.testing.assert_allclose(marks.z_m, [4 ** (2 / 3)], rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, shape=st.tuples(st.integers(1, 40), st.integers(1, 40)), share=st.floats(0.05, 1.0))
def test_on_a_coarser_grid_an_anchor_stays_where_it_was(seed: int, shape: tuple[int, int], share: float) -> None:
    """Within half a coarse pixel, at the image's very edge too."""
    rng = np.random.default_rng(seed)
    grid = (max(round(shape[0] * share), 1), max(round(shape[1] * share), 1))
    for edge in (rng.uniform(-0.5, np.array(shape[::-1]) - 0.5), np.array([-0.5, -0.5]), np.array(shape[::-1]) - 0.501):
        marks = render(samples_at([edge.tolist()], [2.0]), shape, grid)
        v, u = np.divmod(marks.pixel[0], grid[1])
        back = (np.array([u, v]) + 0.5) / grid[::-1] * shape[::-1] - 0.5
        assert (np.abs(back - edge) <= 0.5 * np.array(shape[::-1]) / grid[::-1] + 1e-9).all()


@settings(max_examples=200, deadline=None)
@given(H=st.integers(1, 20_000), W=st.integers(1, 20_000), num_pixels=st.integers(1, 10**6))
def test_the_network_sees_no_more_than_is_allowed(H: int, W: int, num_pixels: int) -> None:
    h, w = working_size((H, W), num_pixels)
    assert 1 <= h <= H
    assert 1 <= w <= W
    assert h * w <= max(num_pixels, 1)
    if num_pixels >= H * W:
        assert (h, w) == (H, W)
    elif min(h, w) >= 20:
        assert h * w >= 0.9 * num_pixels
        assert w / h == pytest.approx(W / H, rel=2.0 / min(h, w))  # half a pixel of rounding, one of the limit

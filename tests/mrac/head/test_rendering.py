"""In numpy the same numbers as in torch, and anchors where they belong."""

from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac.head._rendering import (
    SIGMA_FLOOR,
    Form,
    Normal,
    anchor_values,
    correction_unit,
    render,
    working_size,
)
from mrac.lab.train.heads import losses as head_losses
from mrac.lab.train.heads import residual_network
from mrac.lab.train.heads.residual_network import Line, normalise_relative
from mrac.space import SPACES, Space
from mrac.types import FitResult, Samples

SEEDS = st.integers(0, 2**32 - 1)


def samples_at(uv_px: list[list[float]], z_m: list[float], weight: list[float] | None = None) -> Samples:
    trust = np.ones(len(z_m)) if weight is None else np.array(weight)
    return Samples(np.array(uv_px, dtype=np.float64), np.array(z_m), np.arange(len(z_m)) + 0.5, "depth", True, trust)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, size=st.sampled_from([(1, 1), (1, 2), (7, 9), (50, 61)]), slope=st.sampled_from([1e-6, 1.0, 1e5]))
def test_the_normalised_field_is_torch_s(seed: int, size: tuple[int, int], slope: float) -> None:
    x = (np.random.default_rng(seed).normal(3, 1, size) * slope).astype(np.float32)
    expected = normalise_relative(torch.from_numpy(x)[None])[0].numpy()
    np.testing.assert_allclose(Normal.of(x)(x), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("level", [0.0, -3.0, 1e5])
def test_a_flat_field_is_zero(level: float) -> None:
    x = np.full((5, 6), level, np.float32)
    assert not Normal.of(x)(x).any()


def test_a_field_at_the_end_of_single_precision_does_not_run_over() -> None:
    x = np.linspace(-3e38, 3e38, 600, dtype=np.float32).reshape(20, 30)
    normal = Normal.of(x)(x)
    assert normal.min() == pytest.approx(-0.02, abs=0.01)
    assert normal.max() == pytest.approx(1.02, abs=0.01)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, space=st.sampled_from(SPACES), form=st.sampled_from(get_args(Form)), num=st.integers(1, 30))
def test_what_the_network_is_told_is_torch_s(seed: int, space: Space, form: Form, num: int) -> None:
    rng = np.random.default_rng(seed)
    scale, shift = rng.normal(0, 3, 2) * 10.0 ** rng.uniform(-2, 2, 2)
    x = rng.normal(0, 5, (1, 1, num)).astype(np.float32)
    z_m = np.exp(rng.uniform(-3, 5, (1, 1, num)))
    ones, unit = torch.ones(1, 1, num), torch.ones(1).double()
    line = Line(torch.tensor([scale]), torch.tensor([shift]), unit, space)
    given_z = torch.from_numpy(z_m)
    expected = residual_network.anchor_channel(line, torch.from_numpy(x), given_z, ones, form)
    fit = FitResult(scale, shift, np.eye(2), 1.0, np.ones(num, np.bool_))
    told = anchor_values(fit, space, x[0, 0], z_m[0, 0], form)
    np.testing.assert_allclose(told, expected[0, 0].numpy(), rtol=1e-5, atol=1e-5)
    expected_unit = residual_network.correction_unit(given_z, ones, space, form)
    assert correction_unit(z_m[0, 0], space, form) == pytest.approx(float(expected_unit), rel=1e-9)


def test_the_floor_of_sigma_is_that_of_the_loss() -> None:
    assert vars(head_losses)["SIGMA_FLOOR"] == SIGMA_FLOOR


def test_an_anchor_lies_in_its_nearest_pixel() -> None:
    uv = [[-0.5, -0.5], [0.49, 0.0], [0.51, 0.0], [3.49, 2.49], [2.0, 1.0]]
    marks = render(samples_at(uv, [1.0, 1.0, 2.0, 3.0, 4.0]), (3, 4), (3, 4))
    assert marks.pixel.tolist() == [0, 1, 6, 11]
    np.testing.assert_allclose(marks.z_m, [1.0, 2.0, 4.0, 3.0], rtol=1e-12)


def test_several_in_one_pixel_are_their_geometric_mean_by_trust() -> None:
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

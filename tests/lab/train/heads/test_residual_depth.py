"""Depth from a fit and a correction: equation 3 in every space, safe at both ends, and what the network is told."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mrac.lab.train.heads.residual_network import Line, anchor_channel, compose, correction_unit, normalise_relative
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M, SPACES, Space, from_space
from mrac.types import FitResult

SEEDS = st.integers(0, 2**32 - 1)


def line_of(rng: np.random.Generator, num: int, space: Space) -> Line:
    """Fits of every kind: good ones, negative slopes, lines that leave the range of depth on either side."""
    scale, shift = rng.normal(0, 3, (2, num)) * 10.0 ** rng.uniform(-3, 3, (2, num))
    return Line(torch.from_numpy(scale), torch.from_numpy(shift), torch.ones(num).double(), space)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, space=st.sampled_from(SPACES))
def test_without_correction_depth_is_that_of_the_affine_head(seed: int, space: Space) -> None:
    rng = np.random.default_rng(seed)
    line = line_of(rng, 2, space)
    x = rng.normal(0, 5, (2, 9, 11)).astype(np.float32)
    zero = torch.zeros(2, 9, 11)
    given_m = compose(line, torch.from_numpy(x), zero, zero).numpy()
    for depth, values, scale, shift in zip(given_m, x, line.scale, line.shift, strict=True):
        fit = FitResult(float(scale), float(shift), np.eye(2), 1.0, np.ones(0, bool))
        expected = from_space(fit(values.astype(np.float64)), space).astype(np.float32)
        # Two libraries may round the exponential's last bit in double precision differently.
        np.testing.assert_array_max_ulp(depth, expected, maxulp=1 if space == "log_depth" else 0)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, space=st.sampled_from(SPACES))
def test_composes_equation_3(seed: int, space: Space) -> None:
    """With (a + Δa)·x + (b + Δb) on the normalised field, and the fit moved over to that field."""
    rng = np.random.default_rng(seed)
    line = line_of(rng, 2, space)
    line = Line(line.scale, line.shift, torch.tensor([1.0, 0.3]).double(), space)
    x = torch.from_numpy(rng.normal(3, 5, (2, 20, 15)))
    delta_a, delta_b = torch.from_numpy(rng.normal(0, 2, (2, 2, 20, 15)))
    depth = compose(line, x, delta_a, delta_b)
    for i in range(2):
        ordered = np.sort(x[i].numpy().ravel())
        low, high = ordered[round(0.02 * 299)], ordered[round(0.98 * 299)]
        a, b = float(line.scale[i]) * (high - low), float(line.shift[i]) + float(line.scale[i]) * low
        unit, normal = float(line.unit[i]), (x[i].numpy() - low) / (high - low)
        y = (a + unit * delta_a[i].numpy()) * normal + (b + unit * delta_b[i].numpy())
        size = abs(a) * np.abs(normal).max() + abs(b) + 1.0  # what cancels in y
        np.testing.assert_allclose(y, _y(line, x, delta_a, delta_b)[i], rtol=0, atol=1e-12 * size)
        near = from_space(y - 1e-12 * size, space), from_space(y + 1e-12 * size, space)
        # The ends of the range come back through a logarithm: equal up to rounding.
        assert bool((depth[i].numpy() >= np.minimum(*near) * (1 - 1e-12)).all())
        assert bool((depth[i].numpy() <= np.maximum(*near) * (1 + 1e-12)).all())


def _y(line: Line, x: Tensor, delta_a: Tensor, delta_b: Tensor) -> Tensor:
    linear = Line(line.scale, line.shift, line.unit, "depth")
    lowered = compose(linear, x, delta_a, delta_b, limits_m=(-1e300, 1e300))
    assert lowered.dtype == torch.float64
    return lowered


@pytest.mark.parametrize("space", SPACES)
def test_depth_stays_in_range_and_can_be_brought_back(space: Space) -> None:
    scale, shift, unit = torch.tensor([[1e6, -1e6], [-10.0, 0.0], [1.0, 1.0]]).double()
    line = Line(scale, shift, unit, space)
    x = torch.linspace(-1, 1, 2 * 6 * 7).view(2, 6, 7)
    delta = torch.zeros(2, 6, 7, requires_grad=True)
    depth = compose(line, x, delta, delta, limits_m=(0.1, 80.0))
    tolerance = 1e-6
    assert bool(((depth >= 0.1 * (1 - tolerance)) & (depth <= 80.0 * (1 + tolerance))).all())
    depth.log().sum().backward()  # type: ignore[no-untyped-call]
    assert delta.grad is not None
    assert bool(delta.grad.isfinite().all())
    assert bool((compose(line, x, delta, delta) >= MIN_DEPTH_M * (1 - tolerance)).all())
    assert bool((compose(line, x, delta, delta) <= MAX_DEPTH_M * (1 + tolerance)).all())
    near, far = ((depth.detach() / end - 1).abs() < tolerance for end in (0.1, 80.0))
    assert bool(near.any() | far.any())
    assert bool((delta.grad[near | far] != 0).all())


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS, slope=st.floats(1e-3, 1e3), shift=st.floats(-100, 100))
def test_the_normalised_field_forgets_its_range(seed: int, slope: float, shift: float) -> None:
    x = torch.from_numpy(np.random.default_rng(seed).normal(0, 1, (2, 13, 17)))
    normal = normalise_relative(x)
    torch.testing.assert_close(normalise_relative(slope * x + shift), normal, atol=1e-7, rtol=1e-7)
    assert bool((((normal >= 0) & (normal <= 1)).double().mean(dim=(1, 2)) > 0.94).all())


def test_one_hot_pixel_does_not_move_the_rest() -> None:
    x = torch.rand(1, 30, 40)
    hot = x.clone()
    hot[0, 3, 4] = 1e6
    difference = (normalise_relative(hot) - normalise_relative(x)).abs()
    difference[0, 3, 4] = 0
    assert float(difference.max()) < 0.01


@pytest.mark.parametrize("level", [0.0, -3.0, 1e5])
def test_a_flat_field_is_zero(level: float) -> None:
    assert not bool(normalise_relative(torch.full((2, 5, 6), level)).any())


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, factor=st.floats(0.05, 20.0), space=st.sampled_from(SPACES))
def test_the_scale_free_form_does_not_know_a_scene_from_its_model(seed: int, factor: float, space: Space) -> None:
    rng = np.random.default_rng(seed)
    x = torch.from_numpy(rng.uniform(0, 1, (1, 20, 24)))
    z = torch.from_numpy(rng.uniform(1, 4, (1, 20, 24)))
    mask = torch.from_numpy((rng.random((1, 20, 24)) < 0.1).astype(np.float64))
    delta_a, delta_b = torch.from_numpy(rng.normal(0, 0.1, (2, 1, 20, 24)))
    power = {"depth": 1.0, "inverse_depth": -1.0, "log_depth": 0.0}[space]
    depths, channels = [], []
    for f in (1.0, factor):
        scale, shift = torch.tensor([[0.5], [0.8]]).double() * f**power
        shift = shift + (np.log(f) if space == "log_depth" else 0.0)
        line = Line(scale, shift, correction_unit(f * z, mask, space, "scale_free"), space)
        channels.append(anchor_channel(line, x, f * z, mask, "scale_free"))
        limits_m = (MIN_DEPTH_M * f, MAX_DEPTH_M * f)
        depths.append(compose(line, x, delta_a, delta_b, limits_m=limits_m) / f)
    torch.testing.assert_close(channels[1], channels[0], atol=1e-9, rtol=1e-9)
    torch.testing.assert_close(depths[1], depths[0], atol=1e-9, rtol=1e-9)


def test_the_papers_form_is_metres() -> None:
    z = torch.tensor([[[2.0, float("nan"), 80.0]]])
    mask = torch.tensor([[[1.0, 0.0, 1.0]]])
    one = torch.ones(1).double()
    line = Line(one, one, one, "depth")
    assert anchor_channel(line, torch.zeros(1, 1, 3), z, mask).tolist() == [[[2.0, 0.0, 80.0]]]
    assert correction_unit(z, mask, "inverse_depth").tolist() == [1.0]
    assert bool(anchor_channel(line, torch.zeros(1, 1, 3), z, mask, "scale_free").isfinite().all())

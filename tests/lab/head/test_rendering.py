"""Inputs of the learned heads: in numpy the same numbers as in the torch code that trains them."""

from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac.head._rendering import SIGMA_FLOOR, Form, Normalisation, anchor_values, correction_unit
from mrac.lab.train.heads import losses as head_losses
from mrac.lab.train.heads import residual_network
from mrac.lab.train.heads.residual_network import Line, normalise_relative
from mrac.space import SPACES, Space
from mrac.types import FitResult

SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, size=st.sampled_from([(1, 1), (1, 2), (7, 9), (50, 61)]), slope=st.sampled_from([1e-6, 1.0, 1e5]))
def test_the_normalised_field_is_torch_s(seed: int, size: tuple[int, int], slope: float) -> None:
    x = (np.random.default_rng(seed).normal(3, 1, size) * slope).astype(np.float32)
    expected = normalise_relative(torch.from_numpy(x)[None])[0].numpy()
    np.testing.assert_allclose(Normalisation.of(x)(x), expected, rtol=1e-5, atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, space=st.sampled_from(SPACES), form=st.sampled_from(get_args(Form)), num=st.integers(1, 30))
def test_the_anchor_channel_is_torch_s(seed: int, space: Space, form: Form, num: int) -> None:
    rng = np.random.default_rng(seed)
    scale, shift = rng.normal(0, 3, 2) * 10.0 ** rng.uniform(-2, 2, 2)
    x = rng.normal(0, 5, (1, 1, num)).astype(np.float32)
    z_m = np.exp(rng.uniform(-3, 5, (1, 1, num)))
    ones, unit = torch.ones(1, 1, num), torch.ones(1).double()
    line = Line(torch.tensor([scale]), torch.tensor([shift]), unit, space)
    given_z = torch.from_numpy(z_m)
    expected = residual_network.anchor_channel(line, torch.from_numpy(x), given_z, ones, form)
    fit = FitResult(scale, shift, np.eye(2), 1.0, np.ones(num, np.bool_))
    values = anchor_values(fit, space, x[0, 0], z_m[0, 0], form)
    np.testing.assert_allclose(values, expected[0, 0].numpy(), rtol=1e-5, atol=1e-5)
    expected_unit = residual_network.correction_unit(given_z, ones, space, form)
    assert correction_unit(z_m[0, 0], space, form) == pytest.approx(float(expected_unit), rel=1e-9)


def test_the_floor_of_sigma_is_that_of_the_loss() -> None:
    assert vars(head_losses)["SIGMA_FLOOR"] == SIGMA_FLOOR

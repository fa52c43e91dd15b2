"""The batched closed form gives what `fit/ols` gives, in every row of its table."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac.fit.ols import Ols
from mrac.lab.train.heads.line_fit import fit_lines
from mrac.space import SPACES, Space
from mrac.types import Samples

SEEDS = st.integers(0, 2**32 - 1)


def one_by_one(x: np.ndarray, z: np.ndarray, kept: np.ndarray, space: Space, native: bool) -> np.ndarray:
    lines = []
    for i in range(len(x)):
        k = kept[i]
        n = int(k.sum())
        samples = Samples(np.zeros((n, 2)), z[i][k], x[i][k], space, native, np.ones(n))
        fit = Ols()(samples)
        lines.append((fit.scale, fit.shift))
    return np.array(lines).T


@settings(max_examples=80, deadline=None)
@given(
    seed=SEEDS,
    space=st.sampled_from(SPACES),
    native=st.booleans(),
    num=st.sampled_from([1, 2, 3, 5, 50]),
    share=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    flat=st.booleans(),
)
def test_equals_the_fit_of_the_pipeline(
    seed: int, space: Space, native: bool, num: int, share: float, flat: bool
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(3, 2, (6, num)).astype(np.float32)
    if flat:
        x[:3] = x[:3, :1]
        x[0] = 0.0
    z = rng.uniform(0.5, 80, (6, num)).astype(np.float32)
    kept = rng.random((6, num)) < share
    scale, shift = fit_lines(torch.from_numpy(x), torch.from_numpy(z), torch.from_numpy(kept), space, native)
    expected = one_by_one(x.astype(np.float64), z.astype(np.float64), kept, space, native)
    assert scale.dtype == shift.dtype == torch.float64
    np.testing.assert_allclose(scale, expected[0], rtol=1e-7, atol=1e-9 * np.abs(expected[0]).max())
    np.testing.assert_allclose(shift, expected[1], rtol=1e-7, atol=1e-7 * (1 + np.abs(expected[1]).max()))


@pytest.mark.parametrize("space", SPACES)
def test_what_is_dropped_is_not_seen(space: Space) -> None:
    x, z = torch.tensor([[1.0, 2.0, 4.0, torch.nan]]), torch.tensor([[2.0, 3.0, 5.0, -1.0]])
    kept = torch.tensor([[True, True, True, False]])
    assert [float(v) for v in fit_lines(x, z, kept, space)] == [
        float(v) for v in fit_lines(x[:, :3], z[:, :3], kept[:, :3], space)
    ]


def test_far_from_zero_the_sums_do_not_cancel() -> None:
    x = 5e6 + torch.arange(20.0)[None]
    scale, shift = fit_lines(x, 1.0 + (x - 5e6), torch.ones(1, 20, dtype=torch.bool), "depth")
    assert float(scale) == pytest.approx(1.0, rel=1e-9)
    assert float(scale * 5e6 + shift) == pytest.approx(1.0, abs=1e-6)

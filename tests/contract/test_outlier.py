"""What every registered outlier family must do."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import ContractError, registry
from mrac.outliers.base import Outliers, Truth

FAMILIES = registry.names("outlier")


def scene(K: int, seed: int = 0) -> Truth:
    """A step of 2 and 6 m with holes, and K readings of it."""
    rng = np.random.default_rng(seed)
    truth_m = np.where(np.arange(60) < 30, 2.0, 6.0) + rng.uniform(0, 0.1, (40, 60))
    truth_m[rng.random(truth_m.shape) < 0.3] = np.nan
    v, u = np.nonzero(np.isfinite(truth_m))
    chosen = rng.choice(v.size, K, replace=False)
    uv_px = np.stack([u[chosen], v[chosen]], axis=1)
    return Truth(uv_px=uv_px, z_m=truth_m[v[chosen], u[chosen]], truth_m=truth_m.astype(np.float32), max_range_m=10.0)


@pytest.mark.parametrize("name", FAMILIES)
class TestEveryFamily:
    def family(self, name: str) -> Outliers:
        made = registry.create("outlier", name)
        assert isinstance(made, Outliers)
        return made

    @settings(max_examples=40, deadline=None)
    @given(K=st.integers(0, 80), fraction=st.floats(0, 1), seed=st.integers(0, 9))
    def test_corrupts_the_stated_number_and_no_more(self, name: str, K: int, fraction: float, seed: int) -> None:
        truth = scene(K, seed)
        z_m, wrong = self.family(name)(truth, fraction, np.random.default_rng(seed))
        assert z_m.shape == wrong.shape == (K,)
        assert wrong.dtype == np.bool_
        assert wrong.sum() == round(fraction * K)
        np.testing.assert_array_equal(z_m[~wrong], truth.z_m[~wrong])
        assert np.isfinite(z_m).all()
        assert (z_m > 0).all()

    def test_what_it_injects_is_wrong(self, name: str) -> None:
        truth = scene(50)
        z_m, wrong = self.family(name)(truth, 0.4, np.random.default_rng(1))
        assert (z_m[wrong] != truth.z_m[wrong]).all()

    def test_depends_on_the_generator_alone_and_spares_its_input(self, name: str) -> None:
        truth = scene(50)
        before = truth.z_m.copy(), truth.truth_m.copy()
        first, second = (self.family(name)(truth, 0.25, np.random.default_rng(5)) for _ in range(2))
        np.testing.assert_array_equal(first.z_m, second.z_m)
        np.testing.assert_array_equal(first.wrong, second.wrong)
        np.testing.assert_array_equal(truth.z_m, before[0])
        np.testing.assert_array_equal(truth.truth_m, before[1])

    def test_an_image_without_truth_is_no_obstacle(self, name: str) -> None:
        z_m, nothing = np.arange(1.0, 5.0), np.full((6, 6), np.nan)
        truth = Truth(uv_px=np.full((4, 2), 3.0), z_m=z_m, truth_m=nothing, max_range_m=80.0)
        said, wrong = self.family(name)(truth, 1.0, np.random.default_rng(0))
        assert wrong.all()
        assert np.isfinite(said).all()

    def test_its_parameters_can_be_recorded(self, name: str) -> None:
        family = self.family(name)
        recorded = json.loads(json.dumps(vars(family)))
        assert type(family)(**recorded) == family

    @pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan")])
    def test_a_share_is_from_0_to_1(self, name: str, fraction: float) -> None:
        with pytest.raises(ContractError, match="a number from 0 to 1"):
            self.family(name)(scene(5), fraction, np.random.default_rng(0))


def test_shapes_are_checked() -> None:
    with pytest.raises(ContractError, match=r"\(K, 2\), \(K,\) and \(H, W\)"):
        Truth(uv_px=np.zeros((3, 2)), z_m=np.ones(4), truth_m=np.ones((5, 5)), max_range_m=1.0)

"""What every registered placement must do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import ContractError, registry
from mrac.lab.placement.base import AnchorPlacement

PLACEMENTS = registry.names("placement")
SIDE = st.integers(1, 12)


@pytest.mark.parametrize("name", PLACEMENTS)
class TestEveryPlacement:
    def place(self, name: str) -> AnchorPlacement:
        made = registry.create("placement", name)
        assert isinstance(made, AnchorPlacement)
        return made

    @settings(max_examples=60, deadline=None)
    @given(shape=st.tuples(SIDE, SIDE), density=st.floats(0, 1), K=st.integers(0, 40), seed=st.integers(0, 9))
    def test_gives_different_valid_pixels(
        self, name: str, shape: tuple[int, int], density: float, K: int, seed: int
    ) -> None:
        rng = np.random.default_rng(seed)
        valid = rng.random(shape) < density
        uv = self.place(name)(valid, K, rng, rng.random(shape))
        assert uv.shape == (min(K, valid.sum()), 2)
        assert uv.dtype == np.int64
        assert valid[uv[:, 1], uv[:, 0]].all()
        assert len({(u, v) for u, v in uv.tolist()}) == len(uv)

    def test_depends_on_the_generator_alone(self, name: str) -> None:
        rng = np.random.default_rng(0)
        valid, sigma = rng.random((60, 80)) < 0.5, rng.random((60, 80)).round(1)
        draws = [self.place(name)(valid, 30, np.random.default_rng(seed), sigma) for seed in (7, 7, 8)]
        np.testing.assert_array_equal(draws[0], draws[1])
        assert (draws[0] != draws[2]).any()

    def test_2000_of_480_by_640(self, name: str) -> None:
        valid = np.ones((480, 640), np.bool_)
        valid[:200, :300] = False
        uv = self.place(name)(valid, 2000, np.random.default_rng(0), np.random.default_rng(1).random(valid.shape))
        assert len(np.unique(uv, axis=0)) == 2000

    def test_mistakes_are_named(self, name: str) -> None:
        valid = np.ones((4, 5), np.bool_)
        rng = np.random.default_rng(0)
        with pytest.raises(ContractError, match="a number >= 0"):
            self.place(name)(valid, -1, rng)
        with pytest.raises(ContractError, match="booleans are needed"):
            self.place(name)(valid.astype(float), 1, rng)
        with pytest.raises(ContractError, match="the same shape is needed"):
            self.place(name)(valid, 1, rng, np.ones((5, 4)))

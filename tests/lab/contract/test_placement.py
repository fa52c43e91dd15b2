"""What every registered placement must do."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import ContractError, registry
from mrac.lab.placement.base import AnchorPlacement

PLACEMENTS = registry.names("placement")
FIXED = ("zones",)  # sensors that have so many readings and not more
SIDE = st.integers(1, 12)


def scene(shape: tuple[int, ...], rng: np.random.Generator) -> dict[str, Any]:
    """What a placement may ask for."""
    image = rng.integers(0, 256, (*shape, 3), np.uint8)
    return {"uncertainty": rng.random(shape).round(1), "image": image, "depth_m": rng.uniform(1.0, 5.0, shape)}


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
        place, seen = self.place(name), scene(shape, rng)
        uv = place(valid, K, rng, **seen)
        most = min(K, int(valid.sum()))
        assert uv.ndim == 2
        assert (len(uv) <= most and (len(uv) > 0) == (most > 0)) if name in FIXED else len(uv) == most
        assert uv.dtype == np.int64
        assert valid[uv[:, 1], uv[:, 0]].all()
        assert len({(u, v) for u, v in uv.tolist()}) == len(uv)
        depth_m = np.where(valid, seen["depth_m"], np.nan)
        read = place.read(depth_m, valid, uv)
        assert read.shape == (len(uv),)
        assert read.dtype == np.float64
        assert ((read >= 1.0) & (read <= 5.0)).all()
        if name not in FIXED:
            np.testing.assert_array_equal(read, depth_m[uv[:, 1], uv[:, 0]])

    def test_depends_on_the_generator_alone(self, name: str) -> None:
        rng = np.random.default_rng(0)
        valid, seen = rng.random((60, 80)) < 0.5, scene((60, 80), rng)
        draws = [self.place(name)(valid, 30, np.random.default_rng(seed), **seen) for seed in (7, 7, 8)]
        np.testing.assert_array_equal(draws[0], draws[1])
        assert (draws[0] != draws[2]).any()

    def test_2000_of_480_by_640(self, name: str) -> None:
        valid = np.ones((480, 640), np.bool_)
        valid[:200, :300] = False
        uv = self.place(name)(valid, 2000, np.random.default_rng(0), **scene(valid.shape, np.random.default_rng(1)))
        assert len(np.unique(uv, axis=0)) == (len(uv) if name in FIXED else 2000)

    def test_mistakes_are_named(self, name: str) -> None:
        valid = np.ones((4, 5), np.bool_)
        rng = np.random.default_rng(0)
        with pytest.raises(ContractError, match="a number >= 0"):
            self.place(name)(valid, -1, rng)
        with pytest.raises(ContractError, match="booleans are needed"):
            self.place(name)(valid.astype(float), 1, rng)
        with pytest.raises(ContractError, match="the same shape is needed"):
            self.place(name)(valid, 1, rng, np.ones((5, 4)))
        with pytest.raises(ContractError, match=r"image is .* the same shape is needed"):
            self.place(name)(valid, 1, rng, image=np.ones((5, 4, 3), np.uint8))

"""What every registered head must do."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import Anchors, registry
from mrac.fit.ols import Ols
from mrac.head.base import Head, HeadResult, Scene
from mrac.space import SPACES, Space
from mrac.types import Samples
from tests.conftest import MadeScene

HEADS = registry.names("head")
NOT_ON_THE_FIT = ("delaunay", "nearest", "raw_unet")  # their depth is not the fit, corrected


def check(result: HeadResult, shape: tuple[int, int]) -> None:
    for field in (result.depth_m, result.sigma_m):
        assert field.shape == shape
        assert field.dtype == np.float32
        assert np.isfinite(field).all()
        assert (field > 0).all()


def scene_of(made: MadeScene, with_relative: bool = True, keep: int | None = None, space: Space = "log_depth") -> Scene:
    uv, z = made.anchors.uv_px[:keep], made.anchors.z_m[:keep]
    rows, columns = uv[:, 1].astype(int), uv[:, 0].astype(int)
    x = made.relative.values[rows, columns].astype(np.float64) if with_relative else None
    space = made.relative.space if with_relative else space
    samples = Samples(uv, z, x, space, True, np.ones(z.size))
    return Scene(made.image, made.relative.values if with_relative else None, samples, Ols()(samples))


@cache
def create(name: str) -> Head:
    made = registry.create("head", name)
    assert isinstance(made, Head)
    return made


@pytest.mark.parametrize("name", HEADS)
class TestEveryHead:
    @pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (33, 47), (60, 80)])
    @pytest.mark.parametrize("with_relative", [True, False])
    def test_any_size_and_number(
        self, name: str, shape: tuple[int, int], with_relative: bool, make_scene: Callable[..., MadeScene]
    ) -> None:
        head = create(name)
        made = make_scene(num_anchors=60, shape=shape, space=head.trained_space or "inverse_depth")
        for keep in (0, 1, 2, 3, None):
            check(head(scene_of(made, with_relative, keep, head.trained_space or "log_depth")), shape)

    @settings(max_examples=25, deadline=None)
    @given(data=st.data())
    def test_any_readings(self, name: str, data: st.DataObject) -> None:
        head = create(name)
        K = data.draw(st.integers(0, 12))
        z = np.array(data.draw(st.lists(st.floats(1e-3, 1e4), min_size=K, max_size=K)))
        x = np.array(data.draw(st.lists(st.floats(-1e6, 1e6, width=32), min_size=K, max_size=K)))
        drawn: Space = data.draw(st.sampled_from(SPACES))
        rng = np.random.default_rng(0)
        field = rng.normal(size=(9, 11)).astype(np.float32) * np.float32(
            data.draw(st.sampled_from([0, 1, 1e-20, 1e20]))
        )
        samples = Samples(rng.uniform(0, 8, (K, 2)), z, x, head.trained_space or drawn, True, np.ones(K))
        image = rng.integers(0, 256, (9, 11, 3), dtype=np.uint8)
        check(head(Scene(image, field, samples, Ols()(samples))), (9, 11))

    def test_exact_where_the_relation_is_exact(self, name: str, make_scene: Callable[..., MadeScene]) -> None:
        """What training has taught may say otherwise, but not another scene."""
        head = create(name)
        made = make_scene(space=head.trained_space or "inverse_depth")
        result = head(scene_of(made))
        off, on_fit = np.abs(np.log(result.depth_m / made.depth_m)), name not in NOT_ON_THE_FIT
        if head.trained_space is None and on_fit:
            assert off.max() < 0.02
        elif on_fit:
            assert off.mean() < 0.5
        elif head.trained_space is None:  # interpolation: exact at the anchors, and nowhere outside their range
            u, v = made.anchors.uv_px.astype(int).T
            np.testing.assert_allclose(result.depth_m[v, u], made.anchors.z_m, rtol=1e-4)
            assert result.depth_m.min() >= made.anchors.z_m.min() * 0.999
            assert result.depth_m.max() <= made.anchors.z_m.max() * 1.001
        else:  # a network by itself: the anchors set the scale
            farther = Anchors(made.anchors.uv_px, 2.0 * made.anchors.z_m)
            assert np.median(head(scene_of(replace(made, anchors=farther))).depth_m / result.depth_m) > 1.2

    def test_many_anchors(self, name: str, make_scene: Callable[..., MadeScene]) -> None:
        head = create(name)
        made = make_scene(num_anchors=2500, space=head.trained_space or "inverse_depth")
        assert len(made.anchors) > 1500
        result = head(scene_of(made))
        check(result, (60, 80))
        off, on_fit = np.abs(np.log(result.depth_m / made.depth_m)).mean(), name not in NOT_ON_THE_FIT
        if head.trained_space is not None:
            assert off < (0.5 if on_fit else 2.0)  # far from its fifty anchors and from photographs
        else:
            assert off < (0.01 if on_fit else 0.05)

"""The learner sees in training what it sees in use."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mrac import ContractError
from mrac.fit.ols import Ols
from mrac.head.base import Scene
from mrac.head.sml import Sml
from mrac.lab.train.scale_map.inputs import (
    DrawOptions,
    LearnerPool,
    draw_pool,
    learner_inputs,
    standardisation_of,
    truth_per_m,
)
from mrac.types import Samples
from mrac.vi_depth.learner import Trained
from mrac.vi_depth.predictors import Standardisation
from mrac.vi_depth.ranges import WIDE

NEUTRAL = Standardisation(0.0, 1.0, 0.0, 1.0)
Maps = np.ndarray[Any, np.dtype[np.float32]]


def frames(num: int, shape: tuple[int, int] = (60, 90)) -> tuple[list[Maps], list[Maps]]:
    """Relative fields, and depth that a line in inverse depth explains but for a wave."""
    v, u = np.mgrid[0 : shape[0], 0 : shape[1]]
    relative = [(1.0 + 0.5 * np.sin(u / (15 + i)) + 0.3 * np.cos(v / 11)).astype(np.float32) for i in range(num)]
    z_m = [(1.0 / (0.2 + 0.4 * x) * (1.0 + 0.2 * np.sin(v / 9))).astype(np.float32) for x in relative]
    for z in z_m:
        z[:5] = 0.0  # not measured
    return relative, z_m


def test_is_what_the_head_shows_the_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def watching(x: Any) -> Any:
        seen.append(x)
        return np.ones_like(x[:, :1])

    monkeypatch.setattr("mrac.head.sml.open_learner", lambda *_: Trained(watching, NEUTRAL, WIDE))
    (relative,), (z_m,) = frames(1)
    rng = np.random.default_rng(0)
    uv_px = np.stack([rng.integers(0, 90, 40), rng.integers(5, 60, 40)], axis=1).astype(np.float64)
    reading_m = z_m[uv_px[:, 1].astype(int), uv_px[:, 0].astype(int)].astype(np.float64)
    samples = Samples(uv_px, reading_m, np.ones(40), "inverse_depth", True, np.ones(40))
    Sml()(Scene(np.zeros((60, 90, 3), np.uint8), relative, samples, Ols()(samples)))
    made = learner_inputs(relative, uv_px, reading_m, WIDE)
    assert made is not None
    np.testing.assert_array_equal(np.stack(made)[None], seen[0])
    assert made[0].shape == made[1].shape == (256, 384)


def test_nothing_to_refine_is_none() -> None:
    (relative,), _ = frames(1)
    uv_px = np.array([[3.0, 3.0], [60.0, 20.0], [20.0, 50.0], [80.0, 55.0]])
    at = relative[uv_px[:, 1].astype(int), uv_px[:, 0].astype(int)]
    assert learner_inputs(relative, uv_px[:2], np.array([1.0, 2.0]), WIDE) is None
    assert learner_inputs(np.ones_like(relative), uv_px, np.array([1.0, 2.0, 3.0, 4.0]), WIDE) is None
    assert learner_inputs(relative, uv_px, 1.0 / at.astype(np.float64), WIDE) is None
    assert learner_inputs(relative, uv_px, np.array([1.0, 2.0, 3.0, 4.0]), WIDE) is not None


def test_every_draw_is_its_own_and_reproducible() -> None:
    relative, z_m = frames(3)
    options = DrawOptions(num_draws=4, num_readings=30, seed=5)
    pool, again = draw_pool(relative, z_m, WIDE, options), draw_pool(relative, z_m, WIDE, options)
    assert pool.aligned_per_m.shape == pool.unit_scale.shape == (3, 4, 256, 384)
    assert pool.truth_per_m.shape == (3, 256, 384)
    np.testing.assert_array_equal(pool.unit_scale, again.unit_scale)
    np.testing.assert_array_equal(pool.aligned_per_m, again.aligned_per_m)
    flat = pool.unit_scale.reshape(12, -1)
    assert len(np.unique(flat, axis=0)) == 12
    alone = draw_pool(relative[:1], z_m[:1], WIDE, replace(options, num_draws=2))
    np.testing.assert_array_equal(alone.unit_scale[0], pool.unit_scale[0, :2])
    other = draw_pool(relative, z_m, WIDE, replace(options, seed=6))
    assert (other.unit_scale != pool.unit_scale).mean() > 0.5


def test_draws_come_from_known_depth_alone() -> None:
    (relative,), (z_m,) = frames(1)
    few = np.zeros_like(z_m)
    few[[10, 20, 30, 40], [10, 70, 20, 80]] = (1.0, 2.0, 3.0, 1.5)
    few[50, 50] = 500.0  # beyond the range
    pool = draw_pool([relative], [few], WIDE, DrawOptions(num_draws=1, num_readings=150))
    uv_px = np.array([[10.0, 10.0], [70.0, 20.0], [20.0, 30.0], [80.0, 40.0]])
    expected = learner_inputs(relative, uv_px, np.array([1.0, 2.0, 3.0, 1.5]), WIDE)
    assert expected is not None
    np.testing.assert_array_equal(pool.aligned_per_m[0, 0], expected[0])


def test_truth_is_that_of_the_nearest_pixel_and_never_between_two() -> None:
    z_m = np.array([[1.0, 2.0, 4.0], [0.0, np.nan, np.inf]])
    np.testing.assert_array_equal(truth_per_m(z_m, (2, 3)), [[1.0, 0.5, 0.25], [0.0, 0.0, 0.0]])
    up = truth_per_m(z_m, (4, 9))
    np.testing.assert_array_equal(up[:2], np.repeat([[1.0, 0.5, 0.25]], 3, axis=1).repeat(2, axis=0))
    down = truth_per_m(np.arange(1.0, 10.0)[None], (1, 3))
    np.testing.assert_array_equal(down, np.array([[1 / 2, 1 / 5, 1 / 8]], np.float32))


def test_statistics_count_each_set_alike() -> None:
    rng = np.random.default_rng(0)
    maps = [rng.normal(mean, std, (2, num, 2, 8, 8)).astype("f4") for mean, std, num in ((1, 0.5, 30), (0, 0.1, 3))]
    room, street = (LearnerPool(both[0], both[1], np.zeros((len(both[0]), 8, 8), "f4")) for both in maps)
    both = standardisation_of([room, street])
    assert both.inv_z_mean_per_m == pytest.approx(0.5, abs=0.02)
    assert both.scale_std == pytest.approx(np.sqrt((0.5**2 + 0.1**2) / 2 + 0.5**2), rel=0.02)
    alone = standardisation_of([room])
    assert alone.inv_z_std_per_m == pytest.approx(room.aligned_per_m.std(), rel=1e-4)
    with pytest.raises(ContractError, match="at least one is needed"):
        standardisation_of([])


def test_mistakes_are_named() -> None:
    relative, z_m = frames(2)
    with pytest.raises(ContractError, match="2 fields and 1 depth maps"):
        draw_pool(relative, z_m[:1], WIDE, DrawOptions())
    with pytest.raises(ContractError, match="all of one size"):
        draw_pool(relative, [z_m[0], z_m[1][:30]], WIDE, DrawOptions())
    with pytest.raises(ContractError, match="0 fields"):
        draw_pool([], [], WIDE, DrawOptions())
    with pytest.raises(ContractError, match="0 readings of frame 1 leave nothing to refine; leave it out"):
        draw_pool(relative, [z_m[0], np.zeros_like(z_m[1])], WIDE, DrawOptions())

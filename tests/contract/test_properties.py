"""What must be true of every scene, for scenes that hypothesis makes up."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import Anchors, Calibrator, RelativeDepth

METHODS = ("default", "mrac", "cfa_ols")
CALIBRATORS = {name: Calibrator(name, foundation="none") for name in METHODS}
SHAPE = (24, 32)
quick = settings(max_examples=12, deadline=None, derandomize=True)


class Scene:
    """A smooth room, a relative field of it, and readings of which a few are too near."""

    def __init__(self, seed: int, num: int, wrong: float, with_relative: bool) -> None:
        self.rng = np.random.default_rng(seed)
        v, u = np.mgrid[0 : SHAPE[0], 0 : SHAPE[1]]
        a, b = self.rng.uniform(0.5, 2.0, 2)
        self.depth_m = 1.0 + a * v / SHAPE[0] + b * u / SHAPE[1]
        self.image = np.clip(np.stack([self.depth_m * 50, u * 5, v * 8], 2), 0, 255).astype(np.uint8)
        places = self.rng.choice(SHAPE[0] * SHAPE[1], num, replace=False)
        self.uv = np.stack([places % SHAPE[1], places // SHAPE[1]], 1).astype(float)
        self.true_z = self.depth_m.ravel()[places]
        self.wrong = self.rng.random(num) < wrong
        self.z = self.true_z * np.where(self.wrong, 0.4, 1.0)
        self.relative = RelativeDepth(0.3 + 0.4 / self.depth_m, "inverse_depth") if with_relative else None

    def result(self, method: str, which: Any = slice(None), z: Any = None) -> Any:
        z_m = self.z if z is None else z
        return CALIBRATORS[method](self.image, Anchors(self.uv[which], z_m[which]), self.relative)


scenes = st.builds(Scene, st.integers(0, 10**6), st.integers(3, 40), st.sampled_from([0.0, 0.2]), st.booleans())


@pytest.mark.parametrize("method", METHODS)
@quick
@given(scene=scenes)
def test_order_and_duplicates_change_nothing(method: str, scene: Scene) -> None:
    base = scene.result(method)
    assert np.isfinite(base.depth_m).all()
    assert (base.depth_m > 0.0).all()
    order = scene.rng.permutation(len(scene.z))
    shuffled = scene.result(method, order)
    np.testing.assert_array_equal(shuffled.depth_m, base.depth_m)
    np.testing.assert_array_equal(shuffled.anchors.keep, base.anchors.keep[order])
    twice = np.append(order, order[:1])
    np.testing.assert_array_equal(scene.result(method, twice).depth_m, base.depth_m)


# Not of the paper's method: its network adds a residual in metres, whatever the scene's scale.
@pytest.mark.parametrize("method", ["default", "cfa_ols"])
@quick
@given(scene=scenes, factor=st.sampled_from([0.25, 0.5, 2.0, 4.0]))
def test_readings_in_another_unit_scale_the_depth(method: str, scene: Scene, factor: float) -> None:
    base, scaled = scene.result(method), scene.result(method, z=scene.z * factor)
    np.testing.assert_array_equal(scaled.anchors.keep, base.anchors.keep)
    inside = (base.depth_m > 0.01) & (base.depth_m < 1e3)  # depth is kept from a millimetre to ten kilometres
    np.testing.assert_allclose(scaled.depth_m[inside], base.depth_m[inside] * factor, rtol=1e-3)
    np.testing.assert_allclose(scaled.sigma_m[inside], base.sigma_m[inside] * factor, rtol=1e-2)


@pytest.mark.parametrize("method", METHODS)
@quick
@given(scene=scenes)
def test_verdicts_are_stable_under_noise_of_a_millionth(method: str, scene: Scene) -> None:
    base = scene.result(method)
    noisy = scene.result(method, z=scene.z * (1.0 + 1e-6 * scene.rng.standard_normal(len(scene.z))))
    # A reading on the very edge of a threshold may fall to either side; no probability moves far.
    moved = np.abs(noisy.anchors.outlier_probability - base.anchors.outlier_probability)
    assert (moved > 0.1).sum() <= 1
    np.testing.assert_allclose(noisy.depth_m, base.depth_m, rtol=0.02)


@pytest.mark.parametrize("method", METHODS)
@quick
@given(scene=scenes)
def test_one_more_clean_reading_never_makes_the_error_explode(method: str, scene: Scene) -> None:
    fewer = scene.result(method, slice(0, -1), scene.true_z)
    more = scene.result(method, z=scene.true_z)
    before, after = (np.mean(np.abs(out.depth_m / scene.depth_m - 1.0)) for out in (fewer, more))
    assert after <= 2.0 * before + 0.02


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=5, deadline=None, derandomize=True)
@given(scene=scenes)
def test_a_batch_and_a_stream_give_what_single_calls_give(method: str, scene: Scene) -> None:
    single = scene.result(method)
    frame = (scene.image, Anchors(scene.uv, scene.z), scene.relative)
    for many in (CALIBRATORS[method].stream, CALIBRATORS[method].batch):
        for found in many([frame] * 3, workers=2):
            np.testing.assert_array_equal(found.depth_m, single.depth_m)
            np.testing.assert_array_equal(found.sigma_m, single.sigma_m)


@pytest.mark.parametrize("method", ["default", "cfa_ols"])
@quick
@given(scene=scenes)
def test_a_mirrored_scene_gives_mirrored_depth(method: str, scene: Scene) -> None:
    base = scene.result(method)
    uv = np.stack([SHAPE[1] - 1 - scene.uv[:, 0], scene.uv[:, 1]], 1)
    relative = None if scene.relative is None else RelativeDepth(scene.relative.values[:, ::-1], "inverse_depth")
    mirrored = CALIBRATORS[method](scene.image[:, ::-1].copy(), Anchors(uv, scene.z), relative)
    moved = np.abs(mirrored.anchors.outlier_probability - base.anchors.outlier_probability)
    assert (moved > 0.1).sum() <= 1
    # Kriging's coarse grid of nodes does not lie symmetrically in an image of any size.
    assert np.mean(np.abs(mirrored.depth_m[:, ::-1] / base.depth_m - 1.0)) < 0.01


@pytest.mark.parametrize("method", METHODS)
@quick
@given(scene=scenes)
def test_readings_that_cannot_be_used_change_nothing(method: str, scene: Scene) -> None:
    base = scene.result(method)
    bad_uv = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [-5.0, 3.0], [np.nan, 4.0]]
    bad_z = [np.nan, 0.0, -1.0, 2.0, 2.0]
    padded = Anchors(np.concatenate([scene.uv, bad_uv]), np.concatenate([scene.z, bad_z]))
    result = CALIBRATORS[method](scene.image, padded, scene.relative)
    np.testing.assert_array_equal(result.depth_m, base.depth_m)
    np.testing.assert_array_equal(result.anchors.keep[: len(scene.z)], base.anchors.keep)
    assert not result.anchors.keep[len(scene.z) :].any()

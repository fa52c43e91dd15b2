"""VI-Depth as a head: its own numbers, and a named status with a valid depth where it would fail."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mrac import Anchors, Calibrator, ContractError, RelativeDepth, registry
from mrac.fit.ols import Ols
from mrac.head.affine import Affine
from mrac.head.base import HeadResult, Scene
from mrac.head.sml import Sml
from mrac.space import SIGMA_SHARE
from mrac.types import Samples
from mrac.vi_depth.learner import Trained
from mrac.vi_depth.predictors import predictor
from mrac.vi_depth.ranges import WIDE
from tests.conftest import MadeScene

PREDICTOR = "dpt_swin2_large_384"


def made_scene(num: int = 60, shape: tuple[int, int] = (60, 80), seed: int = 0, spread: float = 0.2) -> Scene:
    """A wavy field, and readings that a line in inverse depth explains but for `spread`; 1 to 5 m."""
    rng = np.random.default_rng(seed)
    v, u = np.mgrid[0 : shape[0], 0 : shape[1]]
    relative = (1.0 + 0.6 * np.sin(u / 17) + 0.3 * np.cos(v / 11)).astype(np.float32)
    pixels = rng.choice(relative.size, num, replace=False)
    v_px, u_px = np.divmod(pixels, shape[1])
    z_m = rng.uniform(1.0, 1.0 + spread, num) / (0.3 + 0.3 * relative[v_px, u_px])
    return scene_of(relative, np.stack([u_px, v_px], axis=1).astype(np.float64), z_m)


def scene_of(relative: np.ndarray, uv_px: np.ndarray, z_m: np.ndarray) -> Scene:
    x = relative[uv_px[:, 1].astype(int), uv_px[:, 0].astype(int)].astype(np.float64)
    samples = Samples(uv_px, z_m, x, "inverse_depth", True, np.ones(len(z_m)))
    return Scene(np.zeros((*relative.shape, 3), np.uint8), relative, samples, Ols()(samples))


def same(result: HeadResult, other: HeadResult) -> bool:
    return bool((result.depth_m == other.depth_m).all() and (result.sigma_m == other.sigma_m).all())


class Marker:
    """A learner that gives one scale and records its inputs."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale, self.seen = scale, list[Any]()

    def __call__(self, x: Any) -> Any:
        self.seen.append(x)
        return np.full_like(x[:, :1], self.scale)


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch) -> Marker:
    """In place of the shipped one."""
    marker = Marker()
    trained = Trained(marker, predictor(PREDICTOR).standardisation(150), WIDE)
    monkeypatch.setattr("mrac.head.sml.open_learner", lambda *_: trained)
    return marker


class TestWhereVIDepthWouldFail:
    """Each row of the table in the head's docstring."""

    @pytest.mark.parametrize("num", [0, 1, 2])
    def test_fewer_than_three_readings(self, num: int, learner: Marker) -> None:
        scene = made_scene(num)
        result = Sml()(scene)
        assert result.status == "too_few_anchors"
        assert same(result, Affine()(scene))
        assert not learner.seen

    def test_readings_out_of_range_do_not_count(self, learner: Marker) -> None:
        scene = made_scene(40)
        far = replace(scene, samples=replace(scene.samples, z_m=scene.samples.z_m + 5.0))
        result = Sml(max_depth_m=5.0)(far)
        assert result.status == "too_few_anchors"
        assert same(result, Affine()(far))
        assert Sml()(far).status == "ok"

    def test_one_relative_value_at_all_readings(self, learner: Marker) -> None:
        """Its line would be s = t = 0, and every pixel at the far limit."""
        scene = made_scene(20)
        flat = scene_of(np.ones_like(scene.relative), scene.samples.uv_px, scene.samples.z_m)
        result = Sml()(flat)
        assert result.status == "constant_relative_depth"
        assert same(result, Affine()(flat))
        assert result.depth_m.max() < 10.0
        assert not learner.seen

    def test_readings_on_one_line(self, learner: Marker) -> None:
        scene = made_scene()
        along = np.stack([np.arange(5, 70, 5), np.full(13, 30)], axis=1).astype(np.float64)
        line = scene_of(scene.relative, along, np.linspace(1.0, 3.0, 13))  # type: ignore[arg-type]
        result = Sml()(line)
        assert result.status == "collinear_anchors"
        assert same(result, Sml(global_alignment_only=True)(line))
        assert not learner.seen

    def test_nothing_to_refine(self, learner: Marker) -> None:
        scene = made_scene(spread=0.0)
        result = Sml()(scene)
        assert scene.relative is not None
        assert result.status == "flat_scale_map"
        assert same(result, Sml(global_alignment_only=True)(scene))
        np.testing.assert_allclose(result.depth_m, 1.0 / (0.3 + 0.3 * scene.relative), rtol=1e-5)
        assert not learner.seen

    def test_no_relative_field(self, learner: Marker) -> None:
        scene = replace(made_scene(), relative=None)
        assert Sml()(scene).status == "no_relative_depth"
        assert same(Sml()(scene), Affine()(scene))

    @pytest.mark.parametrize("shape", [(5, 200), (200, 5), (3, 900)])
    def test_strips(self, shape: tuple[int, int], learner: Marker) -> None:
        """At 24 : 1 VI-Depth's short side becomes 0 pixels and it fails."""
        result = Sml()(made_scene(30, shape))
        assert result.status == "ok"
        assert result.depth_m.shape == shape
        assert min(learner.seen[0].shape[2:]) == 32

    def test_a_steep_step_stays_positive(self, learner: Marker) -> None:
        """The last cubic resize overshoots, below zero if the step is steep."""
        relative = np.where(np.arange(80) < 40, 0.011, 9.9).astype(np.float32) * np.ones((60, 1), np.float32)
        rng = np.random.default_rng(0)
        uv_px = np.stack([rng.permutation(80)[:50], rng.permutation(60)[:50]], axis=1).astype(np.float64)
        z_m = 1.0 / relative[uv_px[:, 1].astype(int), uv_px[:, 0].astype(int)] * rng.uniform(0.99, 1.0, 50)
        z_m = np.clip(z_m, 0.102, 99.0)
        depth_m = Sml()(scene_of(relative, uv_px, z_m)).depth_m
        assert np.isfinite(depth_m).all()
        assert depth_m.min() >= 0.1 * (1 - 1e-6)
        assert depth_m.max() <= 100.0 * (1 + 1e-6)


def test_the_alignment_alone_is_its_own_least_squares_within_its_ranges() -> None:
    scene = made_scene()
    relative, samples = scene.relative, scene.samples
    assert relative is not None
    assert samples.x is not None
    within = (samples.z_m > 1.2) & (samples.z_m < 2.0)
    head = Sml(global_alignment_only=True, min_depth_m=1.2, max_depth_m=2.0, min_pred_m=1.0, max_pred_m=2.1)
    slope, shift = np.polyfit(samples.x[within], 1.0 / samples.z_m[within], 1)
    expected = 1.0 / np.clip(slope * relative + shift, 1 / 2.1, 1.0)
    result = head(scene)
    assert 3 < within.sum() < len(samples)
    assert (expected == 1.0 / np.float64(1 / 2.1)).any()
    np.testing.assert_allclose(result.depth_m, expected, rtol=1e-5)
    assert result.status == "ok"


def test_the_learner_s_scale_multiplies_inverse_depth(learner: Marker) -> None:
    scene = made_scene(shape=(96, 128))
    alone = Sml(global_alignment_only=True)(scene)
    np.testing.assert_allclose(Sml()(scene).depth_m, alone.depth_m, rtol=0.01)  # but for the way to 288 × 384 and back
    learner.scale = 2.0
    np.testing.assert_allclose(Sml()(scene).depth_m, alone.depth_m / 2.0, rtol=0.01)


def test_sigma_is_the_spread_of_the_readings_around_the_depth(learner: Marker) -> None:
    scene = made_scene(spread=0.6)
    result = Sml(global_alignment_only=True)(scene)
    u, v = scene.samples.uv_px.astype(int).T
    log_ratio = np.log(scene.samples.z_m / result.depth_m[v, u])
    share = np.sqrt((log_ratio**2).sum() / (len(log_ratio) - 2))
    np.testing.assert_allclose(result.sigma_m, share * result.depth_m, rtol=1e-4)
    assert 0.05 < share < 0.5
    exact = Sml()(made_scene(spread=0.0))
    np.testing.assert_allclose(exact.sigma_m, SIGMA_SHARE[0] * exact.depth_m, rtol=1e-6)
    learner.scale = 0.0  # all at the far limit, far from the readings
    assert (Sml()(scene).sigma_m > Sml()(scene).depth_m).all()


def test_ranges_are_configurable_for_outdoor_data(learner: Marker) -> None:
    scene = made_scene()
    outdoor = replace(scene, samples=replace(scene.samples, z_m=scene.samples.z_m * 15.0))
    near = Sml(min_depth_m=0.2, max_depth_m=80.0, min_pred_m=0.1, max_pred_m=80.0)(outdoor)
    assert near.depth_m.max() > 20.0
    with pytest.raises(ContractError, match="change min_pred_m or max_pred_m along with them"):
        Sml(max_depth_m=200.0)(outdoor)
    with pytest.raises(ContractError, match="change min_pred_m or max_pred_m along with them"):
        Sml(global_alignment_only=True, max_depth_m=200.0)


def test_mistakes_are_named_before_anything_runs() -> None:
    for options, said in (
        ("predictor=midas", "there is no predictor 'midas'; known: dpt_beit"),
        ("predictor=dpt_large,budget=100", "one of 150, 500, 1500"),
        ("global_alignment_only=true,weights=sml_retrained", "takes no weights"),
        ("global_alignment_only=1,max_pred_m=nan", "max_pred_m"),
    ):
        with pytest.raises(ContractError, match=said):
            registry.create("head", f"sml:{options}")


def test_another_space_is_refused(learner: Marker) -> None:
    scene = made_scene()
    with pytest.raises(ContractError, match="the fit is in depth; VI-Depth works in inverse_depth: choose"):
        Sml()(replace(scene, samples=replace(scene.samples, space="depth")))


def test_methods_are_what_they_are_called(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    relative = RelativeDepth(np.log(made.depth_m) + 3.0, "log_depth")  # as the embedded network gives it
    z_m = made.anchors.z_m * np.random.default_rng(1).uniform(0.9, 1.1, len(made.anchors))
    anchors = Anchors(made.anchors.uv_px, z_m)
    alone = Calibrator("vi_depth_ga")(made.image, anchors, relative=relative)
    refined = Calibrator("sml_retrained")(made.image, anchors, relative=relative)
    assert (alone.status, refined.status) == ("ok", "ok")
    assert alone.options["head"]["global_alignment_only"] is True
    np.testing.assert_allclose(alone.depth_m, made.depth_m, rtol=0.1)
    assert np.abs(refined.depth_m / made.depth_m - 1).mean() < 0.2


def test_the_sensors_range_is_taken_unless_there_is_one() -> None:
    assert Sml().for_sensor(10.0) == Sml(max_depth_m=10.0)
    assert Sml(max_depth_m=5.0).for_sensor(10.0) == Sml(max_depth_m=5.0)
    published = Sml(predictor=PREDICTOR)
    assert published.for_sensor(80.0) == replace(published, max_depth_m=80.0, max_pred_m=80.0)
    assert published.for_sensor(4.0) == replace(published, max_depth_m=4.0, max_pred_m=8.0)


def test_a_reading_at_the_sensors_range_is_discarded() -> None:
    scene = made_scene()
    z_m = scene.samples.z_m.copy()
    z_m[::4] = 10.0
    faulty = replace(scene, samples=replace(scene.samples, z_m=z_m))
    clean = replace(scene, samples=scene.samples.keep(np.arange(z_m.size) % 4 != 0, np.ones(z_m.size)))
    head = Sml(global_alignment_only=True)
    np.testing.assert_array_equal(head.for_sensor(10.0)(faulty).depth_m, head(clean).depth_m)
    assert not np.allclose(head(faulty).depth_m, head(clean).depth_m, rtol=0.1)

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from mrac import Anchors, Calibrator
from mrac.conventions import FloatArray
from mrac.fit.ols import Ols
from mrac.gp.kernel import BIAS_VAR, FINE, FINE_VAR, PRIOR_VAR
from mrac.head.base import Scene
from mrac.head.kriging import Kriging, spread
from mrac.relative import sample_bilinear
from mrac.types import DepthCurve, Samples
from tests.conftest import MadeScene


def as_scene(made: MadeScene, relative: bool = True) -> Scene:
    x = sample_bilinear(made.relative.values, made.anchors.uv_px) if relative else None
    space = made.relative.space if relative else "log_depth"
    samples = Samples(made.anchors.uv_px, made.anchors.z_m, x, space, True, np.ones(len(made.anchors)))
    return Scene(made.image, made.relative.values if relative else None, samples, Ols()(samples))


def reference(head: Kriging, scene: Scene, residuals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same process by scikit-learn, in double precision."""
    features = head._features(scene)
    points, anchors = (
        f.astype(np.float64)
        for f in (features.band(0, scene.shape[0]), features.at(scene.samples.uv_px, scene.samples.x))
    )
    kernel = Matern(1.0, nu=1.5) + ConstantKernel(FINE_VAR) * Matern(1 / FINE, nu=1.5) + ConstantKernel(BIAS_VAR)
    process = GaussianProcessRegressor(kernel, alpha=head.noise**2, optimizer=None).fit(anchors, residuals)
    mean, std = process.predict(points.T, return_std=True)
    return mean, std, kernel(anchors) + head.noise**2 * np.eye(len(anchors))


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("num_anchors", [1, 2, 7, 50, 200])
def test_equals_scikit_learn(num_anchors: int, relative: bool, make_scene: Callable[..., MadeScene]) -> None:
    scene = as_scene(make_scene(num_anchors), relative)
    K = len(scene.samples)
    residuals = 0.1 * np.random.default_rng(1).normal(size=K)
    head = Kriging()
    field = head.residual_field(scene, residuals)
    mean, std, covariance = reference(head, scene, residuals)
    prior = head.amplitude if relative else head.amplitude_without_relative
    length2 = residuals @ np.linalg.solve(covariance, residuals)
    share = spread(scene.samples.uv_px, *scene.shape)
    amplitude = float(np.sqrt((head.prior_anchors * prior**2 + share * length2) / (head.prior_anchors + share * K)))
    np.testing.assert_allclose(np.exp(field.mean.ravel()), np.exp(mean), rtol=1e-3)
    # Single precision subtracts what many near anchors explain from the prior: 1e-4 of the amplitude is its floor.
    np.testing.assert_allclose(field.std.ravel(), amplitude * std, rtol=1e-3, atol=1e-4 * amplitude)


def test_spread_is_the_share_of_the_image_that_readings_cover() -> None:
    rng = np.random.default_rng(0)
    even = rng.uniform(0, (640, 480), (4000, 2))
    assert spread(even, 480, 640) == pytest.approx(1.0, abs=0.03)
    assert spread(even * 0.5, 480, 640) == pytest.approx(0.25, abs=0.01)
    row = np.stack([even[:, 0], np.full(4000, 100.0)], axis=1)
    assert spread(row, 480, 640) == spread(even * 0.01, 480, 640) == 0.05
    assert spread(even[:2], 480, 640) == 1.0


def test_readings_in_a_corner_tell_little_about_the_rest(make_scene: Callable[..., MadeScene]) -> None:
    """Exact readings of a small patch: its own errors are tiny, those elsewhere are not."""
    made = make_scene(60)
    uv = np.random.default_rng(0).uniform(2, 20, (60, 2)).round()
    corner = Anchors(uv, made.depth_m[uv[:, 1].astype(int), uv[:, 0].astype(int)])
    head = Kriging(extrapolation=0.0)
    out = Calibrator(gate="none", head=head)(made.image, corner, made.relative)
    far = (out.sigma_m / out.depth_m)[-10:, -10:].mean()
    narrow = float(np.sqrt(PRIOR_VAR) * head.amplitude)
    assert far > 0.5 * narrow


def test_what_lies_beyond_the_readings_is_uncertain(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene(60)
    near = made.anchors.z_m < np.median(made.anchors.z_m)
    anchors = Anchors(made.anchors.uv_px[near], made.anchors.z_m[near])
    plain, wide = (
        Calibrator(gate="none", head=Kriging(extrapolation=e))(made.image, anchors, made.relative) for e in (0.0, 0.8)
    )
    beyond = plain.depth_m > 1.5 * anchors.z_m.max()
    within = (plain.depth_m < 0.9 * anchors.z_m.max()) & (plain.depth_m > 1.1 * anchors.z_m.min())
    assert beyond.any()
    assert (wide.sigma_m[beyond] > plain.sigma_m[beyond]).all()
    np.testing.assert_array_equal(wide.sigma_m[within], plain.sigma_m[within])


def test_honours_its_anchors_and_doubts_the_rest(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene(20)
    out = Calibrator(foundation="none", gate="none")(made.image, made.anchors)
    rows, columns = made.anchors.uv_px.astype(int).T[::-1]
    np.testing.assert_allclose(out.depth_m[rows, columns], made.anchors.z_m, rtol=0.05)
    share = out.sigma_m / out.depth_m
    assert share[rows, columns].max() < np.median(share)


def test_more_anchors_less_error(make_scene: Callable[..., MadeScene]) -> None:
    errors = []
    for num_anchors in (5, 20, 100, 1000):
        made = make_scene(num_anchors)
        out = Calibrator(foundation="none", gate="none")(made.image, made.anchors)
        errors.append(float(np.abs(out.depth_m / made.depth_m - 1).mean()))
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("spread", ["even", "clusters", "lines"])
def test_tiles_agree_with_the_full_solve(spread: str, make_scene: Callable[..., MadeScene]) -> None:
    """The large-K form against the exact one: a fraction of the exact form's own deviation, everywhere.

    Clusters and scan lines leave most of the image to extrapolation, the hardest case for nearest neighbours.
    """
    made = make_scene(shape=(120, 160))
    rng = np.random.default_rng(0)
    uv_px = {
        "even": rng.uniform(0, 119, (600, 2)) * [160 / 120, 1],
        "clusters": np.concatenate([rng.normal(c, 6, (200, 2)) for c in ((30, 30), (120, 40), (80, 100))]),
        "lines": np.stack([rng.uniform(0, 159, 600), np.repeat(np.arange(40, 120, 8), 60)], axis=1),
    }[spread]
    anchors = Anchors(uv_px, sample_bilinear(made.depth_m, uv_px))
    full, tiled = (
        Calibrator(foundation="none", gate="none", head=Kriging(max_exact=n))(made.image, anchors) for n in (5000, 256)
    )
    off = np.abs(np.log(tiled.depth_m / full.depth_m))
    deviations = off / (full.sigma_m / full.depth_m)
    assert deviations.mean() < (0.2 if spread == "even" else 0.6)
    assert np.percentile(deviations, 99) < 3.0
    if spread == "even":
        assert off.mean() < 0.004
        assert np.percentile(off, 99) < 0.03
    assert 0.6 < np.median(tiled.sigma_m / full.sigma_m) < 1.8


def test_no_seam_between_tiles(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene(2000, shape=(120, 160))
    flat = np.full((120, 160, 3), 128, np.uint8)
    out = Calibrator(foundation="none", gate="none")(flat, made.anchors)
    full = Calibrator(foundation="none", gate="none", head=Kriging(max_exact=5000))(flat, made.anchors)
    jump, jump_full = (np.abs(np.diff(np.log(o.depth_m), axis=1)).max() for o in (out, full))
    assert jump < 1.2 * jump_full


def test_a_grid_of_nodes_is_as_good_as_every_pixel(
    make_scene: Callable[..., MadeScene], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large image is asked at every other pixel: far less than the stated deviation changes, and hardly the error."""
    made = make_scene(60, (475, 641))
    scene = as_scene(made)
    coarse = Kriging()(scene)
    monkeypatch.setattr("mrac.head.kriging._NODES", 1_000_000)
    fine = Kriging()(scene)
    assert not np.array_equal(coarse.depth_m, fine.depth_m)  # the grid was used at all
    assert (np.abs(coarse.depth_m - fine.depth_m) / fine.sigma_m).max() < 0.2
    error = [float(np.abs(out.depth_m / made.depth_m - 1.0).mean()) for out in (coarse, fine)]
    assert error[0] == pytest.approx(error[1], rel=0.01)


class TestTrend:
    """Where the trend goes past its anchors."""

    def scene(self, z_m: list[float], weight: list[float], curve: DepthCurve | None = None) -> Scene:
        K = len(z_m)
        x = np.log(z_m)
        uv = np.stack([np.arange(K, dtype=np.float64), np.zeros(K)], axis=1)
        samples = Samples(uv, np.array(z_m), x, "log_depth", True, np.array(weight))
        fit = replace(Ols()(samples.inliers), scale=1.0, shift=0.0, curve=curve)
        return Scene(np.zeros((1, 8, 3), np.uint8), np.zeros((1, 8), np.float32), samples, fit)

    def reach(self, scene: Scene) -> tuple[float, float]:
        low, high = np.exp(Kriging()._log_trend(scene, np.array([-9.0, 9.0]), (2,)))
        return float(low), float(high)

    def test_it_stays_near_the_readings(self) -> None:
        assert self.reach(self.scene([2.0, 3.0, 5.0], [1.0] * 3)) == pytest.approx((2.0 / 3.0, 15.0))

    def test_one_reading_says_little_of_the_extent(self) -> None:
        assert self.reach(self.scene([2.0], [1.0])) == pytest.approx((2.0 / 9.0, 18.0))

    def test_a_reading_taken_for_wrong_does_not_widen_it(self) -> None:
        assert self.reach(self.scene([2.0, 3.0, 5.0, 80.0], [1.0, 1.0, 1.0, 0.2])) == pytest.approx((2.0 / 3.0, 15.0))

    def test_a_curve_is_followed_where_the_fit_has_one(self) -> None:
        curve = DepthCurve(np.array([0.0, 1.0, 2.0]), np.array([0.7, 0.8, 1.5]))
        scene = self.scene([2.0, 3.0, 5.0], [1.0] * 3, curve)
        at = np.array([0.5, 1.5, 9.0])
        np.testing.assert_allclose(Kriging()._log_trend(scene, at, (3,)), [0.75, 1.15, np.log(15.0)], rtol=1e-6)


def test_a_far_sky_changes_nothing_on_the_ground(make_scene: Callable[..., MadeScene]) -> None:
    """The relative field's range is that at the readings: what lies far beyond them must not make all else alike."""
    made = make_scene(60, (120, 160))
    field = np.log(made.depth_m).astype(np.float32)
    x = sample_bilinear(field, made.anchors.uv_px)
    samples = Samples(made.anchors.uv_px, made.anchors.z_m, x, "log_depth", True, np.ones(len(x)))
    sky = field.copy()
    sky[:20] += 9.0
    plain, stretched = (Kriging()(Scene(made.image, f, samples, Ols()(samples))).depth_m[20:] for f in (field, sky))
    np.testing.assert_array_equal(plain, stretched)

"""Least squares fails on the data first, then the fit with a prior holds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import Anchors, Calibrator, RelativeDepth, registry
from mrac.conventions import FloatArray
from mrac.fit._relations import RelationOptions, relations
from mrac.fit.evidence import Evidence, _probabilities, _range
from mrac.fit.ols import Ols
from mrac.gp.features import LengthScales, features_without_image
from mrac.gp.kernel import covariance
from mrac.head.base import Scene
from mrac.result.folder import report_of
from mrac.space import SPACES, Space, from_space
from mrac.types import DepthCurve, Samples

LOG_Z = np.random.default_rng(0).uniform(0.0, 1.5, 4000)
"""Log depth of the pixels of an indoor scene; its first K are the readings'."""


def readings(x: FloatArray, K: int, space: Space, noise: float = 0.0, first: int = 0) -> Samples:
    """K readings of a scene whose pixels have relative values `x` (4000,), at places that say nothing of either."""
    rng = np.random.default_rng(1)
    uv_px, which = rng.uniform(0, 400, (K, 2)), slice(first, first + K)
    z_m = np.exp(LOG_Z[which] + noise * rng.normal(size=K))
    low, high = np.percentile(x, [2.0, 98.0])
    return Samples(uv_px, z_m, x[which], space, True, np.ones(K), x_range=(float(low), float(high)))


def curve_of(samples: Samples, fit: Evidence | None = None) -> DepthCurve:
    curve = (fit or Evidence())(samples).curve
    assert curve is not None
    return curve


def error(samples: Samples, x: FloatArray) -> tuple[float, float]:
    """Mean error of log depth over the scene: of least squares, and of ours."""
    line = np.log(from_space(Ols()(samples)(x), samples.space))
    return float(np.abs(line - LOG_Z).mean()), float(np.abs(curve_of(samples)(x) - LOG_Z).mean())


class TestFewAnchors:
    def test_two_do_not_decide_the_slope_alone(self) -> None:
        off = [error(readings(LOG_Z, 2, "log_depth", noise=0.15, first=2 * i), LOG_Z) for i in range(40)]
        plain, ours = np.mean(off, axis=0)
        assert plain > 0.2
        assert ours < plain / 2

    def test_the_slope_goes_from_the_field_s_own_to_the_readings_(self) -> None:
        x = LOG_Z / 1.4
        slopes = [Evidence()(readings(x, K, "log_depth")).scale for K in (1, 2, 5, 20, 100)]
        assert slopes[0] == 1.0
        assert np.all(np.diff(slopes) > 0.0)
        assert slopes[-1] == pytest.approx(1.4, abs=0.03)

    @pytest.mark.parametrize(("std", "low", "high"), [(0.01, 1.0, 1.02), (0.2, 1.05, 1.2), (10.0, 1.35, 1.45)])
    def test_how_far_is_what_the_prior_says(self, std: float, low: float, high: float) -> None:
        slope = Evidence(slope_std=std, prior_undeclared=1e-9)(readings(LOG_Z / 1.4, 3, "log_depth")).scale
        assert low <= slope <= high

    @settings(max_examples=60, deadline=None)
    @given(
        z=st.lists(st.floats(0.3, 60.0), min_size=2, max_size=5),
        space=st.sampled_from(["depth", "inverse_depth"]),
        shift=st.floats(-0.2, 3.0),
    )
    def test_no_line_reaches_zero_within_the_field(self, z: list[float], space: Space, shift: float) -> None:
        x = (np.exp(LOG_Z if space == "depth" else -LOG_Z) + shift) * 3.0
        samples = replace(readings(x, len(z), space), z_m=np.array(z))
        assert samples.x_range is not None
        ends = np.array(samples.x_range)
        assert (Evidence()(samples)(ends) > 0.0).all()
        assert np.abs(curve_of(samples)(ends)).max() < 30.0


class TestRelations:
    @pytest.mark.parametrize("shift", [0.0, 2.0])
    def test_inverse_depth_of_unknown_shift(self, shift: float) -> None:
        x = np.exp(-LOG_Z) + shift
        for K, limit in ((5, 0.12), (50, 0.03)):
            assert error(readings(x, K, "inverse_depth"), x)[1] < limit

    @pytest.mark.parametrize("declared", SPACES)
    @pytest.mark.parametrize("truth", ["inverse", "depth", "log"])
    def test_a_field_that_is_not_what_it_is_declared_to_be(self, truth: str, declared: Space) -> None:
        x = {"inverse": np.exp(-LOG_Z), "depth": np.exp(LOG_Z), "log": LOG_Z}[truth] + 1.0
        wrong_way = (truth == "inverse") != (declared == "inverse_depth")
        samples = readings(x, 40, declared, noise=0.02)
        result, (plain, ours) = Evidence()(samples), error(samples, x)
        assert ours < 0.035
        if wrong_way:
            assert plain > 0.05 or declared == "log_depth"
            assert result.status == "negative_slope"
            assert sum(belief for name, belief in curve_of(samples).probabilities.items() if "ing line" in name) > 0.9
        else:
            assert result.status in ("ok", "space_mismatch")

    def test_a_right_declaration_is_believed(self) -> None:
        curve = curve_of(readings(LOG_Z, 40, "log_depth", noise=0.1))
        assert curve.probabilities["line in log_depth"] > 0.99
        assert sum(curve.probabilities.values()) == pytest.approx(1.0)

    def test_another_space_is_named(self) -> None:
        x = np.exp(2.0 * LOG_Z)
        result = Evidence()(readings(x, 60, "log_depth", noise=0.01))
        assert result.status == "space_mismatch"
        assert result.scale > 0.0

    def test_another_relation_must_win_on_both_counts(self) -> None:
        found = relations("log_depth", True, 0.0, 1.5, RelationOptions(prior_undeclared=0.01))
        other = next(i for i, r in enumerate(found) if not r.declared)
        won = np.where(np.arange(len(found)) == other, 12.0, 0.0)
        none = np.zeros(len(found))
        assert _probabilities(found, won, won)[other] > 0.99
        for together, each in ((won, none), (none, won)):
            assert _probabilities(found, together, each)[other] < 0.01

    def test_a_reading_that_strays_does_not_overthrow_the_declaration(self) -> None:
        samples = readings(LOG_Z, 40, "log_depth", noise=0.05)
        assert samples.x is not None
        z_m = samples.z_m * np.where(np.arange(40) == samples.x.argmax(), 2.5, 1.0)
        assert curve_of(replace(samples, z_m=z_m)).probabilities["line in log_depth"] > 0.99


class TestInvariance:
    @settings(max_examples=30, deadline=None)
    @given(factor=st.floats(0.01, 100.0), space=st.sampled_from(SPACES), K=st.integers(2, 12))
    def test_the_unit_of_length_does_not_matter(self, factor: float, space: Space, K: int) -> None:
        x = {"depth": np.exp(LOG_Z), "inverse_depth": np.exp(-LOG_Z), "log_depth": LOG_Z}[space]
        samples = readings(x, K, space, noise=0.1)
        scaled = replace(samples, z_m=factor * samples.z_m)
        np.testing.assert_allclose(curve_of(scaled)(x), curve_of(samples)(x) + np.log(factor), atol=1e-3)

    @settings(max_examples=30, deadline=None)
    @given(
        factor=st.floats(0.01, 1e4),
        shift=st.floats(-1e3, 1e3),
        space=st.sampled_from(["depth", "inverse_depth"]),
        K=st.integers(2, 12),
    )
    def test_nor_does_that_of_a_field_of_unknown_shift(self, factor: float, shift: float, space: Space, K: int) -> None:
        x = np.exp(LOG_Z if space == "depth" else -LOG_Z) - 10.0  # not above zero: nobody can think it unshifted
        moved = factor * (x - shift) if shift > 0 else factor * x
        one, other = (curve_of(readings(v, K, space, noise=0.1))(v) for v in (x, moved))
        np.testing.assert_allclose(one, other, atol=1e-3)


class TestTrust:
    def test_doubt_and_stated_noise_both_weaken_a_reading(self) -> None:
        samples = readings(LOG_Z, 8, "log_depth")
        assert samples.x is not None
        far = int(samples.x.argmax())
        z_m = samples.z_m.copy()
        z_m[far] *= 2.0
        wrong = replace(samples, z_m=z_m)
        unsure = np.where(np.arange(8) == far, 0.5, 1.0)
        noise_m = np.where(np.arange(8) == far, 2.0 * z_m, 0.0)
        believed, doubted, noisy = (
            Evidence(noise=0.06, soft_noise=1.0)(s).scale
            for s in (wrong, replace(wrong, weight=unsure), replace(wrong, noise_m=noise_m))
        )
        assert believed > 1.08
        assert 1.0 < doubted < believed - 0.03
        assert abs(noisy - 1.0) < 0.05

    def test_of_many_readings_some_are_heard_the_ends_among_them(self) -> None:
        samples = readings(LOG_Z / 1.2, 4000, "log_depth", noise=0.05)
        result = Evidence()(samples)
        assert samples.x is not None
        heard = {*np.random.default_rng(0).permutation(4000)[:160].tolist(), samples.x.argmin(), samples.x.argmax()}
        assert set(np.flatnonzero(result.used).tolist()) == heard
        assert result.used[samples.x.argmin()]
        assert result.used[samples.x.argmax()]
        assert np.abs(curve_of(samples)(LOG_Z / 1.2) - LOG_Z).mean() < 0.05


@settings(max_examples=200, deadline=None)
@given(
    points=st.lists(st.tuples(st.floats(-1e6, 1e6, width=32), st.floats(1e-3, 1e4)), min_size=2, max_size=12),
    space=st.sampled_from(SPACES),
    native=st.booleans(),
    x_range=st.none() | st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)),
)
def test_any_curve_is_finite(
    points: list[tuple[float, float]], space: Space, native: bool, x_range: tuple[float, float] | None
) -> None:
    x, z = np.array(points).T
    samples = Samples(np.zeros((x.size, 2)), z, x, space, native, np.ones(x.size), x_range=x_range)
    result = Evidence()(samples)
    assert np.isfinite(result.covariance).all()
    if samples.flat:
        assert result.curve is None
        return
    assert result.curve is not None
    assert (np.diff(result.curve.x) > 0.0).all()
    assert np.isfinite(result.curve(np.concatenate([x, [-1e6, 0.0, 1e6]]))).all()


@pytest.mark.parametrize("head", registry.names("head"))
@pytest.mark.parametrize("K", [1, 2, 3, 30])
def test_every_head_takes_it(head: str, K: int) -> None:
    made = registry.create("head", head)
    rng = np.random.default_rng(2)
    space: Space = made.trained_space or "inverse_depth"
    z = np.exp(np.linspace(0.0, 1.5, 48 * 64)).reshape(48, 64)
    field = (z if space == "depth" else np.log(z) if space == "log_depth" else 1.0 / z).astype(np.float32)
    uv = rng.permutation(48 * 64)[:K]
    uv_px = np.stack([uv % 64, uv // 64], axis=1).astype(np.float64)
    x = field.ravel()[uv].astype(np.float64)
    samples = Samples(
        uv_px, z.ravel()[uv], x, space, True, np.ones(K), x_range=(float(field.min()), float(field.max()))
    )
    image = rng.integers(0, 256, (48, 64, 3), dtype=np.uint8)
    out = made(Scene(image, field, samples, Evidence()(samples)))
    assert np.isfinite(out.depth_m).all()
    assert (out.depth_m > 0.0).all()
    assert np.isfinite(out.sigma_m).all()


def test_through_the_front_door_and_into_the_report() -> None:
    z = np.exp(np.linspace(0.0, 1.5, 48 * 64)).reshape(48, 64)
    uv = np.random.default_rng(3).permutation(48 * 64)[:30]
    anchors = Anchors(np.stack([uv % 64, uv // 64], axis=1), z.ravel()[uv])
    image = np.zeros((48, 64, 3), np.uint8)
    mistaken = RelativeDepth(1.0 / z, "log_depth")  # says log depth, is inverse depth
    out = Calibrator(foundation="none", gate="none", fit="evidence")(image, anchors, relative=mistaken)
    assert np.abs(np.log(out.depth_m / z)).mean() < 0.03
    assert report_of(out)["fit"]["relations"]["falling line in inverse_depth"] > 0.9


@pytest.mark.parametrize("space", SPACES)
def test_the_line_is_that_of_a_fine_grid_of_contrasts(space: Space) -> None:
    """By brute force: the covariance as a whole, the shift by generalised least squares, 2,001 contrasts."""
    fit = Evidence(prior_undeclared=1e-9, noise=0.3, slope_std=0.3)
    rng = np.random.default_rng(5)
    log_z = rng.uniform(0.0, 1.5, 12)
    x = log_z / 1.3 if space == "log_depth" else np.exp((1 if space == "depth" else -1) * log_z) - 10.0
    z_m = np.exp(log_z + 0.05 * rng.normal(size=12))
    low, high = float(x.min()), float(x.max())
    weight = rng.uniform(0.5, 1.0, 12)
    samples = Samples(rng.uniform(0, 400, (12, 2)), z_m, x, space, True, weight, x_range=(low, high))
    features = features_without_image(samples.uv_px, x, (low, high), LengthScales()).astype(np.float32)
    total = covariance(features.astype(np.float64)) + 1.0 + np.diag((0.09 + 0.02 * (1.0 - weight)) / weight)
    precision = np.linalg.inv(total)
    ones = np.ones(12)
    shift_var = 1.0 / (ones @ precision @ ones)

    deviations = np.linspace(-4.0, 4.0, 2001)
    u, power = (x - low) / (high - low), {"depth": 1.0, "inverse_depth": -1.0, "log_depth": 0.0}[space]
    if power:
        contrast = power * 2.0 * np.exp(0.8 * deviations)
        trend = np.log1p(np.expm1(power * contrast[:, None]) * u) / power
    else:
        contrast = (high - low) * (1.0 + 0.3 * deviations)
        trend = contrast[:, None] * u
    shift = (np.log(z_m) - trend) @ precision @ ones * shift_var
    left = np.log(z_m) - trend - shift[:, None]
    amplitude_var = (4.0 * 0.04 + np.einsum("gk,kl,gl->g", left, precision, left)) / (4.0 + 11)
    log_p = -0.5 * (4.0 + 11) * np.log(amplitude_var) - 0.5 * deviations**2
    p = np.exp(log_p - log_p.max())
    p /= p.sum()

    def line(contrast: FloatArray, shift: FloatArray) -> FloatArray:
        first, last = (
            (shift, shift + contrast) if not power else (np.exp(power * shift), np.exp(power * (shift + contrast)))
        )
        return np.stack([(last - first) / (high - low), first - (last - first) / (high - low) * low])

    mean_contrast, mean_shift = p @ contrast, p @ shift
    scale, level = line(mean_contrast, mean_shift)
    found = fit(samples)
    assert (found.scale, found.shift) == pytest.approx((scale, level), rel=5e-3)
    at = np.log1p(np.expm1(power * mean_contrast) * u) / power if power else mean_contrast * u
    error = np.log(z_m) - at - mean_shift
    at_mean = (4.0 * 0.04 + error @ precision @ error) / 15
    per_shift = np.array([power * scale, power * level]) if power else np.array([0.0, 1.0])
    off = line(contrast, shift) - np.array([[scale], [level]])
    wanted = (off * p) @ off.T + at_mean * shift_var * np.outer(per_shift, per_shift)
    np.testing.assert_allclose(found.covariance, wanted, rtol=0.03)
    unit = 1.0 if space == "log_depth" else float(np.median(samples.y))
    assert found.sigma == pytest.approx(np.sqrt((4.0 * 0.04 + error @ error) / 15) * unit, rel=5e-3)
    curve = p @ (trend + shift[:, None])
    np.testing.assert_allclose(curve_of(samples, fit)(x), curve, atol=5e-3)


@pytest.mark.parametrize(
    ("stated", "wanted"),
    [
        (None, (1.0, 3.0)),
        ((0.0, 9.0), (0.0, 9.0)),
        ((1.0, 1.3), (1.0, 1.3)),
        ((1.0, 1.1), (1.0, 3.0)),
        ((5.0, 2.0), (1.0, 3.0)),
    ],
)
def test_the_range_is_the_readings_where_the_stated_one_is_not_typical(
    stated: tuple[float, float] | None, wanted: tuple[float, float]
) -> None:
    assert _range(stated, np.array([1.0, 3.0, 2.0])) == wanted

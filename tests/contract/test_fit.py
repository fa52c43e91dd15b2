"""What every registered fit must do."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import registry
from mrac.fit.base import PRIOR_DEPTH_M, Fit
from mrac.types import FitResult, Samples

FITS = registry.names("fit")
SPACES = ["depth", "inverse_depth", "log_depth"]


def check(result: FitResult, K: int) -> None:
    assert np.isfinite([result.scale, result.shift, result.sigma]).all()
    assert result.sigma >= 0
    assert result.covariance.shape == (2, 2)
    assert np.isfinite(result.covariance).all()
    np.testing.assert_allclose(result.covariance, result.covariance.T)
    assert (np.diag(result.covariance) >= 0).all()
    assert result.used.shape == (K,)


@cache
def create(name: str) -> Fit:
    made = registry.create("fit", name)
    assert isinstance(made, Fit)
    return made


@pytest.mark.parametrize("name", FITS)
class TestEveryFit:
    @settings(max_examples=60, deadline=None)
    @given(
        points=st.lists(st.tuples(st.floats(-1e6, 1e6, width=32), st.floats(1e-3, 1e4)), max_size=25),
        space=st.sampled_from(SPACES),
        native=st.booleans(),
    )
    def test_any_scene_is_finite(self, name: str, points: list[tuple[float, float]], space: str, native: bool) -> None:
        x, z = (np.array(values, dtype=np.float64) for values in (zip(*points, strict=True) if points else ([], [])))
        samples = Samples(np.zeros((x.size, 2)), z, x, space, native, np.ones(x.size))  # type: ignore[arg-type]
        check(create(name)(samples), x.size)

    @pytest.mark.parametrize("space", SPACES)
    def test_recovers_an_exact_line(self, name: str, space: str, make_samples: Callable[..., Samples]) -> None:
        rng = np.random.default_rng(0)
        samples = make_samples(None, rng.uniform(1, 5, 40), space)
        x = (samples.y - 0.25) / 1.5
        fit = create(name)
        result = fit(make_samples(x, samples.z_m, space))
        check(result, 40)
        assert result.status == "ok"
        if fit.has_prior:
            np.testing.assert_allclose(result(x), samples.y, rtol=0.05, atol=0.05)
            return
        assert result.scale == pytest.approx(1.5, abs=1e-9)
        assert result.shift == pytest.approx(0.25, abs=1e-9)

    def test_covariance_covers_the_truth(self, name: str, make_samples: Callable[..., Samples]) -> None:
        rng = np.random.default_rng(5)
        slopes, levels, fit = [], [], create(name)
        for _ in range(400):
            x = rng.random(60)
            result = fit(make_samples(x, 2 * x + 3 + 0.1 * rng.normal(size=60)))
            at = np.array([x.mean(), 1.0])
            level = result(at[:1])[0] - (2 * at[0] + 3)
            slopes.append((result.scale - 2) / np.sqrt(result.covariance[0, 0]))
            levels.append(level / np.sqrt(at @ result.covariance @ at))
        for deviations in (slopes, levels):
            assert np.std(deviations) < 1.3, "errors in units of the reported deviation"
            assert (np.abs(deviations) < 2.0).mean() > 0.9
            if not create(name).has_prior:  # a prior of smooth errors is conservative with white noise
                assert np.std(deviations) > 0.8

    def test_more_anchors_come_nearer_to_an_exact_line(self, name: str, make_samples: Callable[..., Samples]) -> None:
        """What a fit with a prior promises in place of recovering the line; it holds for all of them."""
        error = {}
        for K in (4, 200):
            x = np.linspace(0.5, 2.5, K)
            result = create(name)(make_samples(x, 1.5 * x + 0.25))
            error[K] = float(np.abs(result(x) / (1.5 * x + 0.25) - 1.0).max())
        assert error[200] < 0.02
        assert error[200] <= error[4] + 1e-9

    def test_no_anchor(self, name: str, make_samples: Callable[..., Samples]) -> None:
        result = create(name)(make_samples([], []))
        assert (result.scale, result.shift, result.status) == (0.0, PRIOR_DEPTH_M, "no_anchors")

    def test_no_anchor_but_a_field(self, name: str, make_samples: Callable[..., Samples]) -> None:
        nothing = replace(make_samples([], [], space="log_depth"), x_range=(1.0, 5.0))
        result = create(name)(nothing)
        assert (result.scale, result.status) == (1.0, "no_anchors")
        assert np.exp(result(np.array(3.0))) == pytest.approx(PRIOR_DEPTH_M)

    def test_no_relative_field(self, name: str, make_samples: Callable[..., Samples]) -> None:
        result = create(name)(make_samples(None, [1.0, 2.0, 30.0]))
        assert (result.scale, result.shift, result.status) == (0.0, 2.0, "ok")

    @pytest.mark.parametrize(
        ("space", "expected"),
        [("depth", (2.0, 0.0)), ("inverse_depth", (0.125, 0.0)), ("log_depth", (1.0, np.log(4) - 2))],
    )
    def test_one_anchor_sets_the_scale(
        self, name: str, space: str, expected: tuple[float, float], make_samples: Callable[..., Samples]
    ) -> None:
        result = create(name)(make_samples([2.0], [4.0], space))
        assert (result.scale, result.shift) == pytest.approx(expected)
        assert result.status == "one_anchor"

    def test_one_anchor_where_x_is_not_positive_gives_a_constant(
        self, name: str, make_samples: Callable[..., Samples]
    ) -> None:
        result = create(name)(make_samples([-1.0], [4.0]))
        assert (result.scale, result.shift, result.status) == (0.0, 4.0, "one_anchor")

    def test_two_anchors_give_the_line_through_both(self, name: str, make_samples: Callable[..., Samples]) -> None:
        fit = create(name)
        result = fit(make_samples([1.0, 3.0], [2.0, 8.0]))
        assert result.status == "two_anchors"
        if fit.has_prior:  # between the field's own contrast and theirs
            assert 3.0 < result(np.array(3.0)) / result(np.array(1.0)) < 4.0
            return
        assert (result.scale, result.shift) == (3.0, -1.0)

    def test_two_anchors_that_slope_the_impossible_way(self, name: str, make_samples: Callable[..., Samples]) -> None:
        fit = create(name)
        result = fit(make_samples([1.0, 3.0], [8.0, 2.0]))
        assert result.status == "two_anchors"
        assert result.scale > 0.0
        if fit.has_prior:  # the prior's slope: depth still rises with x
            assert result(np.array(3.0)) > result(np.array(1.0)) > 0.0
        else:
            assert (result.scale, result.shift) == (2.5, 0.0)

    def test_equal_x(self, name: str, make_samples: Callable[..., Samples]) -> None:
        result = create(name)(make_samples([2.0] * 5, [3.0, 4.0, 4.0, 4.0, 9.0]))
        assert (result.scale, result.shift, result.status) == (2.0, 0.0, "constant_relative_depth")

    def test_a_falling_line_is_named(self, name: str, make_samples: Callable[..., Samples]) -> None:
        x, fit = np.linspace(0, 1, 20), create(name)
        result = fit(make_samples(x, 5 - 2 * x))
        assert result.scale == pytest.approx(-2, rel=0.1 if fit.has_prior else 1e-6)
        assert result.status == "negative_slope"


# These two need a gate before them.
@pytest.mark.parametrize("name", [n for n in FITS if n not in ("ols", "evidence")])
def test_least_squares_fails_where_the_robust_fit_holds(name: str, make_samples: Callable[..., Samples]) -> None:
    rng = np.random.default_rng(2)
    x = rng.random(60)
    z = 2 * x + 3 + 0.01 * rng.normal(size=60)
    z[:9] = 0.5
    samples = make_samples(x, z)
    truth = 2 * x + 3
    plain = np.abs(registry.create("fit", "ols")(samples)(x) - truth).max()
    robust = np.abs(registry.create("fit", name)(samples)(x) - truth).max()
    assert plain > 0.3
    assert robust < plain / 2

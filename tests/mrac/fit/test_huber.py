"""Huber's estimating equations, and his covariance, at the line that comes out."""

from collections.abc import Callable

import numpy as np
import pytest

from mrac.fit.huber import Huber
from mrac.types import Samples

Make = Callable[..., Samples]


def noisy(make_samples: Make) -> Samples:
    rng = np.random.default_rng(4)
    x = rng.uniform(1.0, 3.0, 41)
    z = 3 * x + 2 + 0.2 * rng.normal(size=41)
    z[:6] += 2.0
    return make_samples(x, z)


@pytest.mark.parametrize("threshold", [0.7, 1.345, 3.0])
def test_bounded_residuals_cancel(threshold: float, make_samples: Make) -> None:
    samples = noisy(make_samples)
    samples = samples.keep(np.ones(41, bool), np.linspace(0.2, 1.0, 41))
    assert samples.x is not None
    fit = Huber(threshold=threshold)(samples)
    residual = samples.y - fit(samples.x)
    sigma = 1.4826 * np.median(np.abs(residual))
    assert fit.sigma == pytest.approx(sigma, rel=1e-6)
    assert fit.status == "ok"
    pull = samples.weight * np.clip(residual, -threshold * sigma, threshold * sigma)
    assert pull.sum() == pytest.approx(0.0, abs=1e-6)
    assert pull @ samples.x == pytest.approx(0.0, abs=1e-6)


def test_the_covariance_is_huber_s(make_samples: Make) -> None:
    """σ² (X'X)⁻¹ with σ² = Σψ² / (n − 2) / (mean ψ')²."""
    samples = noisy(make_samples)
    assert samples.x is not None
    fit = Huber()(samples)
    residual = np.abs(samples.y - fit(samples.x))
    limit = 1.345 * fit.sigma
    var = (np.minimum(residual, limit) ** 2).sum() / 39 / (residual <= limit).mean() ** 2
    design = np.stack([samples.x, np.ones(41)], axis=1)
    np.testing.assert_allclose(fit.covariance, var * np.linalg.inv(design.T @ design), rtol=1e-6)


def test_a_line_through_more_than_half_is_found_at_once(make_samples: Make) -> None:
    x = np.arange(9.0)
    z = 2 * x + 1
    fit = Huber()(make_samples(x, z))
    assert (fit.scale, fit.shift) == pytest.approx((2.0, 1.0))
    assert fit.status == "ok"
    assert fit.sigma == pytest.approx(0.0, abs=1e-9)


def test_a_round_too_few_is_said(make_samples: Make) -> None:
    samples = noisy(make_samples)
    assert Huber(max_rounds=1)(samples).status == "not_converged"
    exact, near = Huber()(samples), Huber(max_rounds=40)(samples)
    assert (near.scale, near.shift) == pytest.approx((exact.scale, exact.shift), rel=1e-6)
    assert Huber(max_rounds=1)(samples).sigma > 0.0


def test_one_depth_everywhere(make_samples: Make) -> None:
    fit = Huber()(make_samples(np.arange(8.0), np.ones(8)))
    assert (fit.scale, fit.shift, fit.status) == (0.0, 1.0, "ok")


def test_goes_on_while_any_point_moves(make_samples: Make) -> None:
    """Readings that are odd about the middle: every line passes through it, so one point never moves."""
    x = np.linspace(-1.0, 1.0, 21)
    z = 5.0 + x + 0.05 * np.sin(9.0 * x) + np.where(np.abs(x) == 0.5, 3.0 * np.sign(x), 0.0)
    samples = make_samples(x, z)
    fit = Huber()(samples)
    residual = samples.y - fit(x)
    pull = np.clip(residual, -1.345 * fit.sigma, 1.345 * fit.sigma)
    assert pull @ x == pytest.approx(0.0, abs=1e-6)

"""The kernel and the posterior against scikit-learn's."""

from dataclasses import asdict

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from mrac.gp.features import LengthScales, features_without_image
from mrac.gp.kernel import (
    BIAS_VAR,
    FINE,
    FINE_VAR,
    NUM_FEATURES,
    PRIOR_VAR,
    WeightedProcessOptions,
    covariance,
    two_scales,
)
from mrac.gp.posterior import Observations, _covariances, posterior, predict

SMOOTH = Matern(1.0, nu=1.5) + ConstantKernel(FINE_VAR) * Matern(1.0 / FINE, nu=1.5)


def points(num: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(num, NUM_FEATURES)).astype(np.float32)


def test_the_covariance_is_matern_at_two_scales() -> None:
    features = points(30, 0).astype(np.float64)
    np.testing.assert_allclose(covariance(features), SMOOTH(features), atol=1e-6)


@pytest.mark.parametrize("num", [1, 2, 7, 40])
def test_mean_and_variance(num: int) -> None:
    """Prediction is in single precision: the bound is a few thousand roundings of numbers of order one."""
    rng = np.random.default_rng(num)
    features, at = points(num, 1), points(600, 2)
    noise_var, residuals = rng.uniform(0.01, 0.2, num), rng.normal(size=num)
    post, mahalanobis2 = posterior(Observations(features, noise_var, residuals))
    mean, explained = np.empty((2, 600), np.float32)
    predict(np.ascontiguousarray(at.T), 0, 600, post, mean, explained)
    reference = GaussianProcessRegressor(SMOOTH + ConstantKernel(BIAS_VAR), alpha=noise_var, optimizer=None)
    expected, std = reference.fit(features, residuals).predict(at, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=2e-4)
    np.testing.assert_allclose(PRIOR_VAR - explained, std**2, atol=5e-4)
    total = (SMOOTH + ConstantKernel(BIAS_VAR))(features.astype(np.float64)) + np.diag(noise_var)
    assert mahalanobis2 == pytest.approx(residuals @ np.linalg.solve(total, residuals), rel=1e-4)


def test_a_lower_weight_and_a_stated_deviation_are_noise() -> None:
    options = WeightedProcessOptions(noise=0.1, soft_noise=0.02, prior_anchors=4.0)
    plain, light, noisy = options.noise_var(np.array([1.0, 0.5, 1.0]), np.array([0.0, 0.0, 0.3]), 0.2)
    assert plain == pytest.approx(0.01)
    assert light == pytest.approx((0.01 + 0.02 * 0.5) / 0.5)
    assert noisy == pytest.approx(0.01 + 1.5**2)


def test_the_amplitude_is_shrunk_to_its_prior() -> None:
    options = WeightedProcessOptions(prior_anchors=4.0)
    assert options.amplitude_var(0.2, 0.0, 0) == pytest.approx(0.04)
    assert options.amplitude_var(0.2, 1e6, 10**8) == pytest.approx(0.01, rel=1e-3)


def test_the_process_that_gate_fit_and_head_have_in_common() -> None:
    assert asdict(WeightedProcessOptions()) == {
        "amplitude": 0.2, "noise": 0.06, "soft_noise": 0.02, "prior_anchors": 4.0,
    }  # fmt: skip


def test_nothing_is_farther_than_a_hundred_lengths() -> None:
    x = np.array([-1e9, 0.0, 1e9])
    found = features_without_image(np.zeros((3, 2)), x, (0.0, 1.0), LengthScales(relative=1.0))
    assert found[:, 7].tolist() == [-100.0, 0.0, 100.0]


def test_a_vast_stated_deviation_stays_finite() -> None:
    options = WeightedProcessOptions(noise=0.1, soft_noise=0.02)
    assert options.noise_var(np.ones(1), np.array([1e300]), 0.2)[0] == pytest.approx(1e12)


@pytest.mark.parametrize("farthest", [0.1, 1.0, 10.0, 100.0])
def test_covariances_are_right_to_single_precision(farthest: float) -> None:
    """Errors of neighbours do not cancel as their weights do: a sixteenfold rounding shows in the depth."""
    square = (np.random.default_rng(0).uniform(0.0, farthest, 10_000) ** 2).astype(np.float32)
    s = np.sqrt(3.0 * square.astype(np.float64))
    expected = two_scales(s, np.exp(-s), np.exp(-FINE * s))
    _covariances(square)
    np.testing.assert_allclose(square, expected, rtol=5e-7)
    assert np.std(square / expected) < 1.5e-7

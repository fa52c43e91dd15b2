"""Each fit beside the reference that the field uses."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import linregress, theilslopes
from sklearn.linear_model import HuberRegressor, RANSACRegressor

from mrac.fit.base import Fit
from mrac.fit.gnc import Gnc
from mrac.fit.huber import Huber
from mrac.fit.msac import Msac
from mrac.fit.ols import Ols
from mrac.fit.ransac import Ransac
from mrac.fit.theil_sen import TheilSen
from mrac.space import Space
from mrac.types import Samples


@pytest.fixture
def samples(make_samples: Callable[..., Samples]) -> Samples:
    rng = np.random.default_rng(4)
    x = rng.random(80)
    z = 3 * x + 2 + 0.05 * rng.normal(size=80)
    z[:8] += 2.0
    return make_samples(x, z)


def test_ols_is_scipy_s(samples: Samples) -> None:
    assert samples.x is not None
    expected = linregress(samples.x, samples.z_m)
    fit = Ols()(samples)
    assert (fit.scale, fit.shift) == pytest.approx((expected.slope, expected.intercept), rel=1e-12)
    deviations = np.sqrt(np.diag(fit.covariance))
    np.testing.assert_allclose(deviations, [expected.stderr, expected.intercept_stderr], rtol=1e-9)


def test_theil_sen_is_scipy_s(samples: Samples) -> None:
    assert samples.x is not None
    expected = theilslopes(samples.z_m, samples.x, method="joint")
    fit = TheilSen()(samples)
    assert (fit.scale, fit.shift) == pytest.approx((expected.slope, expected.intercept), rel=1e-12)


def test_huber_is_near_scikit_learn_s(samples: Samples) -> None:
    """scikit-learn estimates the scale jointly, we take it from the MAD: alike, not equal."""
    assert samples.x is not None
    expected = HuberRegressor(alpha=0.0).fit(samples.x[:, None], samples.z_m)
    fit = Huber()(samples)
    assert (fit.scale, fit.shift) == pytest.approx((expected.coef_[0], expected.intercept_), abs=0.03)


def test_huber_with_a_vast_threshold_is_least_squares(samples: Samples) -> None:
    assert Huber(threshold=1e9)(samples).scale == pytest.approx(Ols()(samples).scale, rel=1e-9)


def test_ransac_finds_scikit_learn_s_consensus(samples: Samples) -> None:
    assert samples.x is not None
    threshold = 0.2
    expected = RANSACRegressor(residual_threshold=threshold, max_trials=2000, random_state=0)
    expected.fit(samples.x[:, None], samples.z_m)
    fit = Ransac(threshold=threshold, trials=5000)(samples)
    assert fit.used.sum() >= expected.inlier_mask_.sum()
    assert fit.scale == pytest.approx(expected.estimator_.coef_[0], abs=0.05)
    assert not fit.used[:8].any()


def test_weights_count(make_samples: Callable[..., Samples]) -> None:
    samples = make_samples([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 40.0])
    trusted = samples.keep(np.ones(4, bool), np.array([1.0, 1.0, 1.0, 1e-12]))
    assert Ols()(trusted).scale == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("space", ["depth", "log_depth"])
@pytest.mark.parametrize("fit", [Gnc(), Msac()])
def test_inlier_fits_are_numpy_s_of_relative_errors(
    fit: Fit, space: Space, make_samples: Callable[..., Samples]
) -> None:
    rng = np.random.default_rng(6)
    x = rng.uniform(1.0, 4.0, 40)
    z = (2 * x + 1) * rng.uniform(0.95, 1.05, 40)
    z[:6] *= 2.0
    samples = make_samples(x, z, space)
    samples = samples.keep(np.ones(40, bool), rng.uniform(0.5, 1.0, 40))
    result = fit(samples)
    assert not result.used[:6].any()
    unit = np.ones(40) if space == "log_depth" else samples.y
    chosen = result.used
    weight = np.sqrt(samples.weight[chosen]) / unit[chosen]
    line, covariance = np.polyfit(x[chosen], samples.y[chosen], 1, w=weight, cov=True)
    assert (result.scale, result.shift) == pytest.approx(tuple(line))
    np.testing.assert_allclose(result.covariance, covariance, rtol=1e-6)


def test_ransac_s_own_threshold_is_scikit_learn_s(samples: Samples) -> None:
    assert samples.x is not None
    threshold = float(np.median(np.abs(samples.y - np.median(samples.y))))
    own, stated = Ransac()(samples), Ransac(threshold=threshold)(samples)
    assert (own.scale, own.shift) == (stated.scale, stated.shift)
    assert own.used.sum() > Ransac(threshold=0.05)(samples).used.sum()


def test_theil_sen_s_covariance_is_the_gaussian_one_over_its_efficiency(samples: Samples) -> None:
    assert samples.x is not None
    fit = TheilSen()(samples)
    sigma = 1.4826 * np.median(np.abs(samples.y - (fit.scale * samples.x + fit.shift)))
    assert fit.sigma == pytest.approx(sigma)
    centre = samples.x.mean()
    var_slope = sigma**2 * np.pi / 3 / ((samples.x - centre) ** 2).sum()
    var_level = sigma**2 * np.pi / 2 / 80
    wanted = [[var_slope, -centre * var_slope], [-centre * var_slope, var_level + centre**2 * var_slope]]
    np.testing.assert_allclose(fit.covariance, wanted)
    assert fit.used.all()

import numpy as np
import pytest

from mrac.robust_line.least_squares import least_squares, line_covariance


@pytest.mark.parametrize("seed", range(3))
def test_is_numpy_s_weighted_fit_with_its_covariance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, weight = rng.uniform(2.0, 9.0, 12), rng.uniform(0.1, 5.0, 12)
    y = 3.0 * x - 4.0 + rng.normal(size=12)
    used = np.arange(12) != 5
    fit = least_squares(x, y, weight, used)
    line, covariance = np.polyfit(x[used], y[used], 1, w=np.sqrt(weight[used]), cov=True)
    assert (fit.scale, fit.shift) == pytest.approx(tuple(line))
    np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-9)
    ws = weight[used] / weight[used].mean()
    assert fit.sigma == pytest.approx(np.sqrt(ws @ (y - np.polyval(line, x))[used] ** 2 / 9))
    np.testing.assert_array_equal(fit.used, used)


def test_two_points_leave_no_deviation() -> None:
    fit = least_squares(np.array([1.0, 3.0, 5.0]), np.array([2.0, 8.0, 0.0]), np.ones(3), np.array([True, True, False]))
    assert (fit.scale, fit.shift, fit.sigma) == pytest.approx((3.0, -1.0, 0.0))
    assert np.isfinite(fit.covariance).all()


def test_covariance_of_unlike_slope_and_level() -> None:
    """By hand: weights 1, 2, 1 at x = 1, 2, 3 have centre 2, a sum of 4 and second moment 2."""
    covariance = line_covariance(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 1.0]), 3.0, 5.0)
    np.testing.assert_allclose(covariance, [[4.5, -9.0], [-9.0, 25.0 / 4.0 + 18.0]])

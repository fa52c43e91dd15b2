"""The compiled rendering against the formulas in numpy, in double precision."""

import numpy as np
import pytest

from mrac.head._posterior_depth import Field, Rendering, exponential, render
from mrac.space import bounded_sigma, from_space


@pytest.mark.parametrize("num", [1, 7, 64, 1000])
def test_exponential(num: int) -> None:
    x = np.linspace(-20.0, 20.0, num).astype(np.float32)
    found = x.copy()
    exponential(found, np.empty(num, np.int32))
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=2e-7)


def test_exponents_beyond_reach_stay_finite() -> None:
    found = np.array([-1e30, 1e30], np.float32)
    exponential(found, np.empty(2, np.int32))
    np.testing.assert_allclose(found, np.exp([-20.0, 20.0]), rtol=2e-7)


@pytest.mark.parametrize("measured", [(0.0, 1.0), (-np.inf, np.inf)])
def test_depth_and_deviation(measured: tuple[float, float]) -> None:
    rng = np.random.default_rng(0)
    trend, mean = rng.normal(0.5, 2.0, (2, 9, 41)).astype(np.float32)
    std = rng.uniform(0.0, 1.5, (9, 41)).astype(np.float32)
    trend[0, :3] = (-30.0, 30.0, 15.0)  # beyond every depth
    shrink, factor, extrapolation = 0.9, 1.25, 0.8
    constants = Rendering(*map(np.float32, (shrink, factor, extrapolation, *measured)))
    depth_m, sigma_m = np.empty((2, 9, 41), np.float32)
    for rows in (slice(0, 4), slice(4, 9)):
        render(trend[rows], Field(mean, std, 1), rows.start, constants, depth_m[rows], sigma_m[rows])

    median, deviation = trend.astype(np.float64) + mean, std.astype(np.float64)
    depth = from_space(median - shrink * np.minimum(deviation, 0.5) ** 2, "log_depth")
    beyond = np.maximum(np.maximum(median - measured[1], measured[0] - median), 0.0)
    stated = np.minimum(factor * np.sqrt(deviation**2 + (extrapolation * beyond) ** 2), 2.5)
    expected = bounded_sigma(depth, np.exp(median) * np.sinh(stated))
    np.testing.assert_allclose(depth_m, depth, rtol=5e-6)
    np.testing.assert_allclose(sigma_m, expected, rtol=2e-5)

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from mrac.conventions import FloatArray
from mrac.fit._process import Process
from mrac.gp.posterior import FINE, FINE_VAR
from mrac.types import Samples


@pytest.fixture
def samples() -> Samples:
    rng = np.random.default_rng(3)
    K = 9
    alike = rng.normal(size=(K, 8)).astype(np.float32)
    z, weight = np.exp(rng.normal(size=K)), rng.uniform(0.5, 1.0, K)
    return Samples(rng.random((K, 2)), z, rng.random(K), "log_depth", True, weight, alike=alike)


def brute_force(samples: Samples, noise_var: FloatArray, trend: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each reading left out in turn, the shift all but free, by scikit-learn's kernels."""
    assert samples.alike is not None
    kernel = Matern(1.0, nu=1.5) + ConstantKernel(FINE_VAR) * Matern(1 / FINE, nu=1.5) + ConstantKernel(1e6)
    total = kernel(samples.alike.astype(np.float64)) + np.diag(noise_var)
    off = np.log(samples.z_m) - trend
    error, var = np.empty((2, off.size))
    for k in range(off.size):
        others = np.arange(off.size) != k
        told = np.linalg.solve(total[np.ix_(others, others)], total[others, k])
        error[k], var[k] = off[k] - told @ off[others], total[k, k] - told @ total[others, k]
    return error, var


def test_leave_one_out_is_what_leaving_out_gives(samples: Samples) -> None:
    noise_var, trend = 0.1 / samples.weight, np.linspace(-1.0, 1.0, len(samples))
    process = Process(samples, (0.0, 1.0), noise_var)
    error, var = process.without_one(process.left_over(trend))
    expected = brute_force(samples, noise_var, trend)
    np.testing.assert_allclose(error, expected[0], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(var, expected[1], rtol=1e-3)


def test_the_best_shift_leaves_least(samples: Samples) -> None:
    process = Process(samples, (0.0, 1.0), np.full(len(samples), 0.1))
    trend = np.linspace(-1.0, 1.0, len(samples))
    shift = process.shift(trend)
    np.testing.assert_allclose(process.shift(trend + shift), 0.0, atol=1e-6)
    np.testing.assert_allclose(process.left_over(trend + 5.0), process.left_over(trend), atol=1e-5)
    stacked = np.stack([trend, 2.0 * trend])
    np.testing.assert_allclose(process.shift(stacked)[0], shift)
    np.testing.assert_allclose(process.left_over(stacked)[0], process.left_over(trend))


def test_without_an_image_near_readings_still_say_the_same() -> None:
    """Three witnesses at one place count for less than three apart."""
    together = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [400.0, 300.0]])
    apart = np.array([[0.0, 0.0], [400.0, 0.0], [0.0, 300.0], [400.0, 300.0]])
    shift = []
    for uv in (together, apart):
        samples = Samples(uv, np.exp([0.0, 0.0, 0.0, 1.0]), np.full(4, 0.5), "log_depth", True, np.ones(4))
        shift.append(float(Process(samples, (0.0, 1.0), np.full(4, 0.05)).shift(np.zeros(4))))
    assert 0.3 < shift[0] < 0.55
    assert shift[1] < shift[0] - 0.1

"""Banded systems against numpy's, leave-one-out against leaving out by hand, Student's t against scipy's."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from mrac.conventions import FloatArray
from mrac.gp.banded import diagonal, empty_band, solve_banded
from mrac.gp.features import LengthScales, features_without_image
from mrac.gp.kernel import FINE, FINE_VAR
from mrac.gp.linear_algebra import leave_block_out, leave_one_out, scratch, student_t_log_density
from mrac.gp.posterior import ShiftFreeProcess
from mrac.types import Samples


def left_out(
    total: FloatArray, error: FloatArray, blocks: list[NDArray[np.intp]]
) -> tuple[FloatArray, FloatArray, list[tuple[float, float]]]:
    K = error.size
    work, (residual, var) = scratch(K, len(blocks)), np.empty((2, K))
    work.matrix[:] = np.nan  # only the lower triangle is read
    work.matrix[:K, :K][np.tril_indices(K)] = total[np.tril_indices(K)]
    work.error[:K] = error
    leave_one_out(work, K, residual, var)
    return residual, var, [leave_block_out(work, members) for members in blocks]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 17, 50, 160])
def test_closed_form_is_conditioning_on_the_rest(size: int) -> None:
    rng = np.random.default_rng(size)
    factor = rng.normal(size=(size, size + 3))
    total, error = factor @ factor.T / size + 0.05 * np.eye(size), rng.normal(size=size)
    blocks = [rng.permutation(size)[: rng.integers(1, size + 1)] for _ in range(5)]
    residual, var, of_blocks = left_out(total, error, blocks)
    one_by_one = [np.array([i]) for i in range(size)]
    found = [*zip(residual, var, strict=True), *of_blocks]
    for members, (given_rest, its_var) in zip([*one_by_one, *blocks], found, strict=True):
        i, rest = members[0], np.setdiff1d(np.arange(size), members)
        gain = np.linalg.solve(total[np.ix_(rest, rest)], total[rest, i])
        np.testing.assert_allclose(given_rest, error[i] - gain @ error[rest], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(its_var, total[i, i] - gain @ total[rest, i], rtol=1e-8)


def test_ill_conditioned_as_two_readings_at_one_place() -> None:
    """Nearly equal rows, held apart by their noise alone, as at a sensor that reads one point twice."""
    residual, var, _ = left_out(np.full((3, 3), 2.3) + 1e-6 * np.eye(3), np.array([1.0, 0.0, 0.0]), [])
    np.testing.assert_allclose(var, 1.5e-6, rtol=1e-6)
    np.testing.assert_allclose(residual, [1.0, -0.5, -0.5], rtol=1e-6)


@pytest.mark.parametrize(("num", "width"), [(1, 1), (6, 1), (35, 5), (36, 9), (400, 20), (403, 33)])
def test_banded_equals_numpy(num: int, width: int) -> None:
    rng = np.random.default_rng(num)
    band, at = empty_band(num, width), diagonal(width)
    full = np.zeros((num, num))
    for offset in range(1, min(width, num - 1) + 1):
        entries = rng.normal(size=num - offset).astype(np.float32)
        band[offset:num, at - offset] = entries
        full += np.diag(entries, offset) + np.diag(entries, -offset)
    full += np.diag(1.0 + np.abs(full).sum(axis=1))
    band[:num, at] = np.diag(full)
    right_side = rng.normal(size=(2, num))
    found = right_side.astype(np.float32)
    solve_banded(band, width, found)
    np.testing.assert_allclose(found, np.linalg.solve(full, right_side.T).T, atol=2e-6)


@pytest.mark.parametrize("dof", [3.0, 5.0, 30.0])
def test_is_scipys_with_the_variance_asked_for(dof: float) -> None:
    error, var = np.linspace(-3.0, 3.0, 31), np.full(31, 0.49)
    scale = float(np.sqrt(0.49 * (dof - 2.0) / dof))
    np.testing.assert_allclose(
        student_t_log_density(error, var, dof), stats.t.logpdf(error, dof, scale=scale), rtol=1e-12
    )
    assert stats.t.var(dof, scale=scale) == pytest.approx(0.49)


@pytest.fixture
def samples() -> Samples:
    rng = np.random.default_rng(3)
    K = 9
    features = rng.normal(size=(K, 8)).astype(np.float32)
    z, weight = np.exp(rng.normal(size=K)), rng.uniform(0.5, 1.0, K)
    return Samples(rng.random((K, 2)), z, rng.random(K), "log_depth", True, weight, features=features)


def process_of(samples: Samples, noise_var: FloatArray) -> ShiftFreeProcess:
    assert samples.features is not None
    return ShiftFreeProcess(np.asarray(samples.features, np.float32), np.log(samples.z_m), noise_var)


def brute_force(samples: Samples, noise_var: FloatArray, trend: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each reading left out in turn, the shift all but free, by scikit-learn's kernels."""
    assert samples.features is not None
    kernel = Matern(1.0, nu=1.5) + ConstantKernel(FINE_VAR) * Matern(1 / FINE, nu=1.5) + ConstantKernel(1e6)
    total = kernel(samples.features.astype(np.float64)) + np.diag(noise_var)
    off = np.log(samples.z_m) - trend
    error, var = np.empty((2, off.size))
    for k in range(off.size):
        others = np.arange(off.size) != k
        told = np.linalg.solve(total[np.ix_(others, others)], total[others, k])
        error[k], var[k] = off[k] - told @ off[others], total[k, k] - told @ total[others, k]
    return error, var


def test_leave_one_out_is_what_leaving_out_gives(samples: Samples) -> None:
    noise_var, trend = 0.1 / samples.weight, np.linspace(-1.0, 1.0, len(samples))
    process = process_of(samples, noise_var)
    error, var = process.leave_one_out(process.whitened_residual(trend))
    expected = brute_force(samples, noise_var, trend)
    np.testing.assert_allclose(error, expected[0], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(var, expected[1], rtol=1e-3)


def test_the_best_shift_leaves_least(samples: Samples) -> None:
    process = process_of(samples, np.full(len(samples), 0.1))
    trend = np.linspace(-1.0, 1.0, len(samples))
    shift = process.shift(trend)
    np.testing.assert_allclose(process.shift(trend + shift), 0.0, atol=1e-6)
    np.testing.assert_allclose(process.whitened_residual(trend + 5.0), process.whitened_residual(trend), atol=1e-5)
    stacked = np.stack([trend, 2.0 * trend])
    np.testing.assert_allclose(process.shift(stacked)[0], shift)
    np.testing.assert_allclose(process.whitened_residual(stacked)[0], process.whitened_residual(trend))


def test_without_an_image_near_readings_are_correlated() -> None:
    """Three readings at one place count for less than three apart."""
    together = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [400.0, 300.0]])
    apart = np.array([[0.0, 0.0], [400.0, 0.0], [0.0, 300.0], [400.0, 300.0]])
    shift = []
    for uv in (together, apart):
        features = features_without_image(uv, np.full(4, 0.5), (0.0, 1.0), LengthScales()).astype(np.float32)
        process = ShiftFreeProcess(features, np.array([0.0, 0.0, 0.0, 1.0]), np.full(4, 0.05))
        shift.append(float(process.shift(np.zeros(4))))
    assert 0.3 < shift[0] < 0.55
    assert shift[1] < shift[0] - 0.1

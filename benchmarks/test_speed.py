"""Ours beside what people use today, in one run: `make bench-speed`. Each pair is checked to give the same answer."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from scipy.stats import siegelslopes, theilslopes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from mrac import Anchors, Calibrator, theil_sen_gate
from mrac.conventions import FloatArray
from mrac.fit.ols import Ols
from mrac.head._base import Scene
from mrac.head._matern import BIAS_VAR, FINE, FINE_VAR
from mrac.head.kriging import Kriging
from mrac.line.select import median_in_place
from mrac.line.siegel import siegel_slope
from mrac.types import Samples


def points(K: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(K)
    x = rng.random(K)
    z = 3 * x + 1 + 0.05 * rng.normal(size=K)
    z[: K // 4] *= 0.4
    return x, z


def run(benchmark: BenchmarkFixture, group: str, who: str, function: Callable[..., Any], *arguments: Any) -> Any:
    benchmark.group = group
    benchmark.extra_info["who"] = who
    function(*arguments)  # compiled and warm: the once-a-machine cost is stated in the README, not here
    return benchmark(function, *arguments)


def scipy_gate(x: FloatArray, z: FloatArray) -> tuple[float, Any]:
    slope = theilslopes(z, x).slope
    residual = z - slope * x
    residual -= np.median(residual)
    sigma = 1.4826 * np.median(np.abs(residual - np.median(residual)))
    return slope, np.abs(residual) <= 2 * sigma


@pytest.mark.parametrize("K", [50, 200, 1000])
@pytest.mark.parametrize("who", ["mrac", "scipy + numpy"])
def test_gate(benchmark: BenchmarkFixture, K: int, who: str) -> None:
    x, z = points(K)
    ours = run(benchmark, f"gate, K = {K}", who, theil_sen_gate if who == "mrac" else scipy_gate, x, z)
    slope, keep = scipy_gate(x, z)
    assert ours[0] == pytest.approx(slope, rel=1e-12)
    np.testing.assert_array_equal(ours.keep if who == "mrac" else ours[1], keep)


def test_gate_on_a_lidar_sweep(benchmark: BenchmarkFixture) -> None:
    run(benchmark, "gate, K = 100,000", "mrac", theil_sen_gate, *points(100_000))


def test_memory_of_the_gate_on_a_lidar_sweep() -> None:
    """Measured in a fresh process, since the peak of this one is somebody else's; printed, and bounded at 200 MB."""
    code = (
        "import resource, numpy as np; from mrac import theil_sen_gate; rng = np.random.default_rng(0); "
        "x = rng.random(100_000); z = x + rng.random(100_000); theil_sen_gate(x[:1000], z[:1000]); "
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; theil_sen_gate(x, z); "
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    print(f"\ngate, K = 100,000: {float(done.stdout):.1f} MB more than at K = 1,000")
    assert float(done.stdout) < 200


@pytest.mark.parametrize("who", ["mrac", "scipy"])
def test_repeated_median(benchmark: BenchmarkFixture, who: str) -> None:
    x, z = points(200)
    slope = siegel_slope if who == "mrac" else lambda a, b: siegelslopes(b, a).slope
    assert run(benchmark, "repeated median, K = 200", who, slope, x, z) == siegelslopes(z, x).slope


@pytest.mark.parametrize("who", ["mrac", "numpy"])
def test_median(benchmark: BenchmarkFixture, who: str) -> None:
    values = np.random.default_rng(0).random(20_000)
    median = (lambda v: median_in_place(v.copy())) if who == "mrac" else np.median
    assert run(benchmark, "median of 20,000", who, median, values) == np.median(values)


def made_scene(K: int) -> tuple[Scene, FloatArray]:
    rng = np.random.default_rng(0)
    image = np.repeat(np.repeat(rng.integers(0, 256, (30, 40, 3), dtype=np.uint8), 16, axis=0), 16, axis=1)
    relative = np.add.outer(np.arange(480) / 480, np.arange(640) / 640).astype(np.float32)
    uv = np.stack([rng.integers(0, 640, K), rng.integers(0, 480, K)], axis=1)
    x = relative[uv[:, 1], uv[:, 0]].astype(np.float64)
    samples = Samples(uv.astype(np.float64), np.exp(x), x, "log_depth", True, np.ones(K))
    return Scene(image, relative, samples, Ols()(samples)), 0.1 * rng.normal(size=K)


@pytest.mark.parametrize("who", ["mrac", "scikit-learn"])
def test_kriging(benchmark: BenchmarkFixture, who: str) -> None:
    scene, residuals = made_scene(50)
    head = Kriging(prior_anchors=1e12, amplitude=1.0)  # a fixed amplitude of 1, as scikit-learn is given below
    points_, anchors = head._features(scene)
    kernel = Matern(1.0, nu=1.5) + ConstantKernel(FINE_VAR) * Matern(1 / FINE, nu=1.5) + ConstantKernel(BIAS_VAR)
    process = GaussianProcessRegressor(kernel, alpha=head.noise**2, optimizer=None)

    def reference() -> tuple[FloatArray, FloatArray]:
        mean, std = process.fit(anchors.astype(np.float64), residuals).predict(points_.T, return_std=True)
        return mean, std

    def ours() -> tuple[FloatArray, FloatArray]:
        return head.residual_field(scene, residuals)

    mean, std = run(benchmark, "kriging mean and std, K = 50, 480×640", who, ours if who == "mrac" else reference)
    expected_mean, expected_std = reference()
    np.testing.assert_allclose(np.exp(mean), np.exp(expected_mean), rtol=1e-3)
    np.testing.assert_allclose(std, expected_std, rtol=1e-3)


@pytest.mark.parametrize("K", [50, 200, 1000, 10_000])
def test_whole_pipeline(benchmark: BenchmarkFixture, K: int) -> None:
    scene, _ = made_scene(K)
    anchors = Anchors(scene.samples.uv_px, scene.samples.z_m)
    run(
        benchmark,
        f"calibrate 480×640, no network, K = {K:,}",
        "mrac",
        Calibrator(foundation="none"),
        scene.image,
        anchors,
    )

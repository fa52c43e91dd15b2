"""Ours beside what people use today, in one run: `make bench-speed`. Each pair is checked to give the same answer."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
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
from mrac.gp.kernel import BIAS_VAR, FINE, FINE_VAR, PRIOR_VAR
from mrac.gp.posterior import Observations, posterior, predict
from mrac.head.base import Scene
from mrac.head.kriging import Kriging
from mrac.robust_line.select import median_in_place
from mrac.robust_line.siegel import siegel_slope
from mrac.runtime.parallel import for_each_span
from mrac.types import RelativeDepth, Samples


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


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the kernel's peak counter is Linux's own")
def test_memory_of_the_gate_on_a_lidar_sweep() -> None:
    """Peak memory of the call alone, by the kernel's count, in a fresh process; printed, and bounded at 200 MB."""
    code = (
        "import re, numpy as np; from pathlib import Path; from mrac import theil_sen_gate; "
        "rng = np.random.default_rng(0); x = rng.random(100_000); z = x + rng.random(100_000); "
        "theil_sen_gate(x[:1000], z[:1000]); Path('/proc/self/clear_refs').write_text('5'); "
        "kb = lambda key: int(re.search(key + r':\\s+(\\d+)', Path('/proc/self/status').read_text())[1]); "
        "before = kb('VmRSS'); theil_sen_gate(x, z); print((kb('VmHWM') - before) / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    print(f"\ngate, K = 100,000: {float(done.stdout):.1f} MB at its peak")
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
    """Both are given the features of pixels and anchors, condition and predict; what the head adds is timed below."""
    scene, residuals = made_scene(50)
    noise = Kriging().noise
    features = Kriging()._features(scene)
    points_, anchors = features.band(0, scene.shape[0]), features.at(scene.samples.uv_px, scene.samples.x)
    kernel = Matern(1.0, nu=1.5) + ConstantKernel(FINE_VAR) * Matern(1 / FINE, nu=1.5) + ConstantKernel(BIAS_VAR)
    process = GaussianProcessRegressor(kernel, alpha=noise**2, optimizer=None)
    double_points, double_anchors = np.ascontiguousarray(points_.T, dtype=np.float64), anchors.astype(np.float64)

    def reference() -> tuple[FloatArray, FloatArray]:
        mean, std = process.fit(double_anchors, residuals).predict(double_points, return_std=True)
        return mean, std

    def ours() -> tuple[FloatArray, FloatArray]:
        post, _ = posterior(Observations(anchors, np.full(50, noise**2), residuals))
        mean, explained = np.empty((2, 480 * 640), np.float32)
        for_each_span(480, lambda top, bottom: predict(points_, top * 640, bottom * 640, post, mean, explained))
        return mean, np.sqrt(PRIOR_VAR - explained)

    mean, std = run(benchmark, "kriging mean and std, K = 50, 480×640", who, ours if who == "mrac" else reference)
    expected_mean, expected_std = reference()
    np.testing.assert_allclose(np.exp(mean), np.exp(expected_mean), rtol=1e-3)
    np.testing.assert_allclose(std, expected_std, rtol=1e-3)


def test_kriging_head(benchmark: BenchmarkFixture) -> None:
    scene, _ = made_scene(50)
    run(benchmark, "kriging head with relative depth, K = 50", "mrac", Kriging(), scene)


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("K", [50, 200, 1000, 10_000, 100_000])
def test_whole_pipeline(benchmark: BenchmarkFixture, K: int, given: bool) -> None:
    scene, _ = made_scene(K)
    anchors = Anchors(scene.samples.uv_px, scene.samples.z_m)
    assert scene.relative is not None
    run(
        benchmark,
        f"calibrate 480×640, {'relative depth given' if given else 'no network'}, K = {K:,}",
        "mrac",
        Calibrator(foundation="none"),
        scene.image,
        anchors,
        RelativeDepth(scene.relative, scene.samples.space) if given else None,
    )

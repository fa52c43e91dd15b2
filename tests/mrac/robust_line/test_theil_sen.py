"""The Theil-Sen slope against the median of all slopes by numpy, on both of its paths."""

import functools
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mrac.robust_line.slope_selection import candidate_capacity
from mrac.robust_line.slope_streaming import slope_by_streaming
from mrac.robust_line.theil_sen import (
    ALL_PAIRS_UPTO,
    FITTED,
    NO_DISTINCT_X,
    NOT_FINITE,
    _slope_of_few,
    _slope_of_many,
    slope_by_all_pairs,
    slope_by_inversion_counting,
    theil_sen_line,
    theil_sen_mad,
    theil_sen_slope,
)

Floats = NDArray[np.float64]
Points = tuple[Floats, Floats]


@functools.lru_cache(maxsize=1)
def pairs(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    i, j = np.triu_indices(size, 1)
    return i, j


def all_slopes(x: Floats, y: Floats) -> Floats:
    i, j = pairs(x.size)
    with np.errstate(all="ignore"):
        run = x[i] - x[j]
        return np.asarray(((y[i] - y[j]) / run)[run != 0.0])


def numpy_slope(x: Floats, y: Floats) -> float:
    slopes = all_slopes(x, y)
    if slopes.size == 0:
        return np.nan
    with np.errstate(all="ignore"):
        median = float(np.median(slopes))
    if np.isfinite(median):
        return median
    low, high = np.sort(slopes)[[(slopes.size - 1) // 2, slopes.size // 2]].tolist()
    return 0.0 if low == -high else float(0.5 * low + 0.5 * high)  # numpy's mean of the two is NaN, or overflows


def close(slope: float, expected: float) -> bool:
    if np.isnan(expected) or np.isinf(expected):
        return bool(slope == expected or (np.isnan(slope) and np.isnan(expected)))
    return abs(slope - expected) <= 1e-12 * abs(expected)


def random_points(rng: np.random.Generator, size: int) -> Points:
    """Points of one of many kinds: continuous, tied, duplicated, nearly affine, at any scale."""
    x = rng.random(size)
    y = 2.0 * x + rng.choice([0.0, 1e-15, 1e-8, 0.1, 10.0]) * rng.standard_normal(size)
    kind = rng.integers(9)
    if kind in (1, 3):
        x = np.round(x * rng.integers(1, 30))
    if kind in (2, 3):
        y = np.round(y * rng.integers(1, 10))
    if kind == 4:
        x, y = rng.integers(0, 2, size).astype(float), rng.integers(0, 4, size).astype(float)
    if kind == 5:
        x, y = np.round(100.0 * x) / 3.0, np.round(100.0 * y) / 7.0
    if kind == 6:
        x, y = 1.0 + 1e-14 * x, 1.0 + 1e-14 * y
    if kind == 7:
        x, y = x * 10.0 ** rng.uniform(-140, 140), y * 10.0 ** rng.uniform(-140, 140)
    if kind == 8:
        copies = rng.integers(0, max(size // 3, 1), size)
        x, y = x[copies], y[copies]
    return x, y


def test_ten_thousand_random_cases() -> None:
    """Every path agrees with numpy: all pairs and streaming bit for bit, counting within 1e-12 at any capacity."""
    rng = np.random.default_rng(1)
    sizes = np.sort(2.0 * 200.0 ** rng.random(10_000)).astype(int)
    sizes[-1] = 400
    for size in sizes.tolist():
        x, y = random_points(rng, size)
        expected = numpy_slope(x, y)
        slope = slope_by_all_pairs(x, y)
        assert slope == expected or (np.isnan(slope) and np.isnan(expected))
        assert close(slope_by_inversion_counting(x, y, int(rng.choice([8, 64, 512, 0]))), expected)
        if size < 100:
            streamed = slope_by_streaming(x, y)
            assert streamed == slope or (np.isnan(streamed) and np.isnan(slope))


@pytest.mark.parametrize("size", [ALL_PAIRS_UPTO, ALL_PAIRS_UPTO + 1, 1000, 5000])
def test_counting_many_points(size: int) -> None:
    rng = np.random.default_rng(size)
    x = rng.random(size)
    y = 2.0 * x + 0.3 * rng.standard_cauchy(size)
    assert theil_sen_slope(x, y) == numpy_slope(x, y)
    x, y = np.round(50.0 * x), np.round(10.0 * y)
    assert theil_sen_slope(x, y) == numpy_slope(x, y)
    pairs.cache_clear()


def halves(size: int) -> Points:
    """Points of which half the slopes are 0 and half are 1."""
    return np.repeat([0.0, 1.0], size // 2), np.repeat([0.0, 0.0, 0.0, 1.0], size // 4)


def adversarial(size: int) -> dict[str, Points]:
    rng = np.random.default_rng(3)
    x, noise = rng.random(size), rng.standard_normal(size)
    count = np.arange(size, dtype=float)
    half = size // 2
    spread = np.where(count < half, count * 2.0**-200, 1.0 + x)
    return {
        "all y equal": (x, np.full(size, 0.3)),
        "affine": (x, 2.0 * x + 1.0),
        "affine, slope no double": (x, x / 3.0 + 0.7),
        "affine integers": (count, 3.0 * count + 5.0),
        "thirds": (3.0 * count, count),
        "two clusters": (x + 10.0 * (count < half), noise + 5.0 * (count < half)),
        "two tight clusters": (1e-9 * x + 10.0 * (count < half), noise + 5.0 * (count < half)),
        "two x": ((x < 0.5).astype(float), noise),
        "two x, two y": ((x < 0.5).astype(float), (noise < 0.0).astype(float)),
        "half 0 and half 1": halves(size),
        "a third of the y equal": (x, np.where(x < 0.6, 0.0, noise)),
        "duplicates": (rng.integers(0, 5, size).astype(float), rng.integers(0, 5, size).astype(float)),
        "integers": (rng.integers(0, 1000, size).astype(float), rng.integers(0, 1000, size).astype(float)),
        "one x differs": (np.where(count < size - 1, 0.0, 1.0), noise),
        "last bits": (x, 1.0 + rng.integers(0, 3, size) * 2.0**-52),
        "last bits of both": (1.0 + count * 2.0**-52, 1.0 + rng.integers(0, 3, size) * 2.0**-52),
        "x apart by 2**-200": (spread, np.where(count < half, 1.0, 1.0 + x + 0.1 * noise)),
        "y apart by 1e-60": (np.round(10.0 * x), np.where(x < 0.4, 1e-60 * noise, 1e30 * noise)),
        "tiny": (1e-300 * x, 1e-300 * noise),
        "huge": (1e300 * x, 1e300 * noise),
        "slopes overflow": (1e-300 * x, 1e300 * x + 1e299 * noise),
        "slopes underflow": (1e300 * x, 1e-300 * noise),
        "slopes are subnormal": (1e160 * x, 1e-160 * (x + 0.1 * noise)),
        "all exponents": (10.0 ** (600.0 * x - 300.0), 10.0 ** rng.uniform(-300.0, 300.0, size)),
    }


@pytest.mark.parametrize("name", adversarial(4))
def test_adversarial_structure(name: str) -> None:
    for size in (20, 100, 1200):
        x, y = adversarial(size)[name]
        expected = numpy_slope(x, y)
        assert slope_by_all_pairs(x, y) == expected
        assert slope_by_streaming(x, y) == expected
        for capacity in (8, 100, 4096, 0):
            assert close(slope_by_inversion_counting(x, y, capacity), expected)


def test_known_slopes_of_a_hundred_thousand_points() -> None:
    size = 100_000
    count = np.arange(size, dtype=float)
    noise = np.random.default_rng(4).standard_normal(size)
    assert theil_sen_slope(count, np.full(size, 0.3)) == 0.0
    assert theil_sen_slope(count, 3.0 * count - 7.0) == 3.0
    assert theil_sen_slope(3.0 * count, count) == 1.0 / 3.0
    assert theil_sen_slope(*halves(size)) == 0.5
    # Two abscissae: the slopes are the differences between two samples, which two binary searches can count.
    slope = theil_sen_slope(np.where(count < size // 2, 0.0, 1.0), noise)
    left, right = np.sort(noise[: size // 2]), noise[size // 2 :]
    total = left.size * right.size
    margin = 1e-12
    fewer = total - int(np.searchsorted(left, right - slope + margin, side="right").sum())
    upto = total - int(np.searchsorted(left, right - slope - margin, side="left").sum())
    assert fewer <= total // 2 <= upto


@pytest.mark.parametrize("size", [0, 1, 2, 50, 500])
def test_without_distinct_x_there_is_no_slope(size: int) -> None:
    x, y = np.full(size, 2.5), np.arange(size, dtype=float)
    assert np.isnan(theil_sen_slope(x, y))
    assert np.isnan(slope_by_inversion_counting(x, y, 0))
    assert np.isnan(slope_by_streaming(x, y))


def test_zeros_of_either_sign_are_one_abscissa() -> None:
    x = np.array([0.0, -0.0, 0.0, -0.0])
    y = np.arange(4.0)
    assert np.isnan(slope_by_all_pairs(x, y))
    assert np.isnan(slope_by_inversion_counting(x, y, 8))


def test_differences_that_overflow_are_scaled_first() -> None:
    x = np.array([-1.7e308, 0.0, 1.7e308])
    assert theil_sen_slope(x, x) == 1.0
    assert theil_sen_slope(x, -0.5 * x) == -0.5
    x = np.linspace(-1.0, 1.0, 500) * 1.7e308
    assert theil_sen_slope(x, x) == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("slope_of", [_slope_of_few, _slope_of_many])
def test_either_kernel_scales_first(slope_of: Callable[[Floats, Floats], float]) -> None:
    x = np.array([-1.7e308, 0.0, 1.7e308])
    assert slope_of(x, np.array([-0.85e308, 0.0, 0.85e308])) == 0.5
    assert slope_of(np.array([-1.0, 0.0, 1.0]), -0.5 * x) == -0.85e308
    assert slope_of(x, np.array([-1.0, 0.0, 1.0])) == pytest.approx(1.0 / 1.7e308)


def test_mean_of_two_large_slopes_does_not_overflow() -> None:
    assert theil_sen_slope(np.array([0.0, 1.0]), np.array([0.0, 1.6e308])) == 1.6e308
    slope = theil_sen_slope(np.array([0.0, 0.0, 1.0]), np.array([1e307, 0.0, 1.7e308]))
    assert slope == pytest.approx(1.65e308, rel=1e-15)


def test_strided_and_read_only_arrays_are_taken_as_they_are() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.random(40), rng.random(40)
    expected = slope_by_all_pairs(x[::2].copy(), y[::2].copy())
    x.flags.writeable = y.flags.writeable = False
    assert slope_by_all_pairs(x[::2], y[::2]) == expected


EXTREME = st.floats(min_value=-1e300, max_value=1e300) | st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e300, 5e-324])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(EXTREME, EXTREME), min_size=2, max_size=60), st.sampled_from([8, 64, 0]))
def test_any_finite_points(points: list[tuple[float, float]], capacity: int) -> None:
    x, y = np.array(points).T.copy()
    expected = numpy_slope(x, y)
    assert np.isnan(expected) == (np.unique(x).size < 2)
    slope = slope_by_all_pairs(x, y)
    assert slope == expected or (np.isnan(slope) and np.isnan(expected))
    assert close(slope_by_inversion_counting(x, y, capacity), expected)


GRID = st.integers(-3, 3).map(float)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(GRID, GRID), min_size=2, max_size=60), st.sampled_from([8, 64]))
def test_points_on_a_small_grid(points: list[tuple[float, float]], capacity: int) -> None:
    x, y = np.array(points).T.copy()
    assert close(slope_by_inversion_counting(x, y, capacity), numpy_slope(x, y))


@pytest.mark.parametrize("size", [2, 3, 50, 200, 500])
def test_fit_is_the_textbook_one_bit_for_bit(size: int) -> None:
    rng = np.random.default_rng(size)
    kappa = 3.0
    for _ in range(20):
        x = rng.random(size)
        y = 2.0 * x + 1.0 + 0.1 * rng.standard_normal(size)
        y[rng.random(size) < 0.3] += 5.0
        slope, intercept, sigma, residuals, keep, outcome = theil_sen_mad(x, y, kappa)
        assert outcome == FITTED == 0  # false: an outcome that is not 0 needs attention
        assert slope == numpy_slope(x, y)
        assert intercept == np.median(y - slope * x)
        assert np.array_equal(residuals, y - (slope * x + intercept))
        assert sigma == 1.4826 * np.median(np.abs(residuals - np.median(residuals)))
        if size > 3:  # so few points lie on the line but for rounding, which the floor is there to allow
            assert np.array_equal(keep, np.abs(residuals) <= kappa * sigma)
        assert theil_sen_line(x, y) == (slope, intercept)


@pytest.mark.parametrize("size", [2, 7, 50, 1000])
def test_exactly_affine_points_are_all_kept(size: int) -> None:
    rng = np.random.default_rng(size)
    for scale in (1e-9, 1.0, 1e9):
        x = scale * rng.random(size)
        y = 0.37 * x + 11.0 * rng.standard_normal()
        assert theil_sen_mad(x, y, 0.0)[4].all()
        y[0] += 1e-6 * (abs(y[0]) + scale)
        assert size < 7 or np.flatnonzero(~theil_sen_mad(x, y, 3.0)[4]).tolist() == [0]


def test_fit_without_distinct_x_is_flat() -> None:
    y = np.array([1.0, 2.0, 3.0, 100.0])
    slope, intercept, _, residuals, keep, outcome = theil_sen_mad(np.full(4, 2.0), y, 3.0)
    assert (slope, intercept, outcome) == (0.0, 2.5, NO_DISTINCT_X)
    assert np.array_equal(residuals, y - 2.5)
    assert keep.tolist() == [True, True, True, False]
    line = theil_sen_line(np.full(4, 2.0), y)
    assert np.isnan(line.slope)
    assert line.intercept == 2.5


def test_the_allowance_for_rounding_is_relative() -> None:
    """Eight units in the last place of the largest term, however small that is."""
    x = np.arange(5.0)
    for scale in (1e-30, 1.0, 1e30):
        y = scale * np.array([0.0, 1.0, 2.0, 3.0, 4.0])
        for ulps, kept in ((7.0, True), (10.0, False)):
            off = y.copy()
            off[4] += ulps * 2.0**-52 * 8.0 * scale  # |y| + |slope x| of the last point is 8
            assert theil_sen_mad(x, off, 0.0)[4].tolist() == [True] * 4 + [kept]


def test_one_infinite_number_spoils_a_fit_and_is_named() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        for x, y in (([0.0, 1.0, bad], [1.0, 2.0, 3.0]), ([0.0, 1.0, 2.0], [bad, 2.0, 3.0])):
            *_, keep, outcome = theil_sen_mad(np.array(x), np.array(y), 3.0)
            assert outcome == NOT_FINITE
            assert not keep.any()


def test_fit_of_no_points_keeps_none() -> None:
    *_, residuals, keep, outcome = theil_sen_mad(np.empty(0), np.empty(0), 3.0)
    assert (residuals.size, keep.size, outcome) == (0, 0, NO_DISTINCT_X)


def test_fit_beyond_the_range_of_floats_says_so() -> None:
    slope, intercept, sigma, residuals, keep, outcome = theil_sen_mad(
        np.array([0.0, 1e-300, 2e-300]), np.array([0.0, 1e300, 2e300]), 3.0
    )
    assert (slope, outcome) == (np.inf, NOT_FINITE)
    assert np.isnan([intercept, sigma, *residuals]).all()
    assert not keep.any()
    assert np.isnan(theil_sen_line(np.array([0.0, 1e-300]), np.array([0.0, 1e300])).intercept)


MEMORY_PROBE = """
import resource
import numpy as np
from mrac.robust_line.theil_sen import theil_sen_slope
rng = np.random.default_rng(0)
x, y = rng.random(100_000), rng.random(100_000)
theil_sen_slope(x[:500], y[:500])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
theil_sen_slope(x, y)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")
def test_memory_grows_linearly() -> None:
    """The peak of a process grows by less than 60 MB over 100,000 points, where all slopes would take 40 GB."""
    probe = subprocess.run([sys.executable, "-c", MEMORY_PROBE], capture_output=True, text=True, check=True)
    assert int(probe.stdout) * 1024 < 60e6
    assert 8 * candidate_capacity(100_000) < 10e6

"""Siegel's repeated median against scipy and against its definition."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mrac.robust_line.siegel import siegel_slope

Floats = NDArray[np.float64]


def by_definition(x: Floats, y: Floats) -> float:
    medians = []
    for i in range(x.size):
        other = x != x[i]
        medians.append(np.median((y[other] - y[i]) / (x[other] - x[i])))
    return float(np.median(medians))


@pytest.mark.parametrize("kind", ["continuous", "tied x", "tied both", "outliers"])
def test_slope_is_scipys_bit_for_bit(kind: str) -> None:
    rng = np.random.default_rng(21)
    for _ in range(150):
        size = int(rng.integers(3, 150))
        x = rng.random(size)
        y = 2.0 * x + rng.standard_normal(size)
        if kind.startswith("tied"):
            x = np.round(8.0 * x)
            y = np.round(2.0 * y) if kind == "tied both" else y
        elif kind == "outliers":
            y[: size // 3] += 100.0
        x[:2] = 0.0, 1.0
        slope = siegel_slope(x, y)
        assert slope == scipy.stats.siegelslopes(y, x, method="separate").slope
        assert slope == by_definition(x, y)


def test_nearly_half_the_points_may_be_arbitrary() -> None:
    rng = np.random.default_rng(22)
    x = rng.random(101)
    y = 3.0 * x - 1.0
    y[:49] = 1e6 * rng.standard_normal(49)
    assert siegel_slope(x, y) == pytest.approx(3.0, rel=1e-9)


@pytest.mark.parametrize("size", [0, 1, 2, 40])
def test_without_distinct_x_there_is_no_slope(size: int) -> None:
    assert np.isnan(siegel_slope(np.full(size, 2.5), np.arange(size, dtype=float)))


def test_overflow_gives_infinities_and_no_nan() -> None:
    x = np.array([0.0, 1e-300, 2e-300, 3e-300])
    assert siegel_slope(x, np.array([0.0, 1e300, 2e300, 3e300])) == np.inf
    assert siegel_slope(x, np.array([0.0, -1e300, -2e300, -3e300])) == -np.inf
    huge = np.array([-1.7e308, 0.0, 1.7e308])
    assert siegel_slope(huge, huge) == 1.0


def test_strided_and_read_only_arrays_are_taken_as_they_are() -> None:
    rng = np.random.default_rng(23)
    x, y = rng.random(60), rng.random(60)
    expected = siegel_slope(x[::2].copy(), y[::2].copy())
    x.flags.writeable = y.flags.writeable = False
    assert siegel_slope(x[::2], y[::2]) == expected


FINITE = st.floats(min_value=-1e300, max_value=1e300)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(FINITE, FINITE), min_size=2, max_size=40))
def test_nan_only_without_distinct_x(points: list[tuple[float, float]]) -> None:
    x, y = np.array(points).T.copy()
    assert np.isnan(siegel_slope(x, y)) == (np.unique(x).size < 2)

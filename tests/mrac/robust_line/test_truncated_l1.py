import itertools
from typing import Any

import numpy as np
import pytest

from mrac.conventions import FloatArray
from mrac.robust_line import truncated_l1
from mrac.robust_line.truncated_l1 import MAX_PIVOTS, truncated_l1_line


def made(num_points: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A line with noise and a quarter of it gone astray; weights."""
    rng = np.random.default_rng(seed)
    x = rng.random(num_points)
    y = 2 * x + 1 + 0.1 * rng.normal(size=num_points)
    y[: num_points // 4] += 3 * rng.normal(size=num_points // 4)
    return x, y, rng.uniform(0.5, 2.0, num_points)


def cost(x: FloatArray, y: FloatArray, weight: FloatArray, limit: float, slope: float, shift: float) -> float:
    return float(np.minimum(limit, weight * np.abs(y - slope * x - shift)).sum())


@pytest.mark.parametrize("limit", [0.05, 0.3, np.inf])
@pytest.mark.parametrize("seed", range(8))
def test_no_line_through_two_points_is_better(limit: float, seed: int) -> None:
    x, y, weight = made(3 + 3 * seed, seed)
    slope, shift, least = truncated_l1_line(x, y, weight, limit, rising=False)
    pairs = itertools.permutations(range(x.size), 2)
    slopes = [((y[j] - y[i]) / (x[j] - x[i]), i) for i, j in pairs]
    assert least == pytest.approx(cost(x, y, weight, limit, slope, shift))
    assert least == pytest.approx(min(cost(x, y, weight, limit, a, y[i] - a * x[i]) for a, i in slopes))


def test_gross_outliers_leave_no_trace() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 500)
    y = 0.02 * x + 0.05
    y[:200] = rng.uniform(0.1, 1.0, 200)
    assert truncated_l1_line(x, y, 1 / y, 0.1, rising=True)[:2] == pytest.approx((0.02, 0.05), abs=1e-9)


def test_a_rising_line_is_preferred_and_a_falling_one_taken_where_there_is_no_other() -> None:
    x = np.linspace(0, 1, 9)
    falling = 3 - x
    assert truncated_l1_line(x, falling, np.ones(9), 1.0, rising=True)[0] == pytest.approx(-1)
    falling[0] = 2.5
    assert truncated_l1_line(x, falling, np.ones(9), 0.05, rising=False)[0] == pytest.approx(-1)
    assert truncated_l1_line(x, falling, np.ones(9), 0.05, rising=True)[0] > 0


def test_more_points_than_pivots() -> None:
    x, y, weight = made(3 * MAX_PIVOTS, 1)
    slope, shift, _ = truncated_l1_line(x, y, weight, 0.3, rising=True)
    assert (slope, shift) == pytest.approx((2, 1), abs=0.03)


def test_the_number_of_pivots_is_bounded_and_they_are_evenly_spaced(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[list[int]] = []

    def search(*given: Any) -> tuple[float, int, float]:
        tried.append(given[4].tolist())
        return 1.0, 0, 0.0

    monkeypatch.setattr(truncated_l1, "_search", search)
    for num in (3, MAX_PIVOTS, 10 * MAX_PIVOTS):
        x = np.arange(float(num))
        truncated_l1_line(x, x, np.ones(num), 1.0, rising=True)
        assert (tried[-1][0], tried[-1][-1], len(tried[-1])) == (0, num - 1, min(num, MAX_PIVOTS))
    assert np.ptp(np.diff(tried[-1])) <= 1


@pytest.mark.parametrize("limit", [0.2, np.inf])
def test_x_that_differ_by_less_than_can_be_divided_by(limit: float) -> None:
    """Before, the search never ended: their slope is infinite, and so is its distance to where they are truncated."""
    x, y = np.array([0.0, 1e-310, 1.0, 2.0]), np.array([1.0, 2.0, 2.0, 3.0])
    assert truncated_l1_line(x, y, np.ones(4), limit, rising=True)[:2] == pytest.approx((1, 1))


@pytest.mark.parametrize("slope", [2, -2])
def test_pivots_that_share_one_x(slope: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twice as many points as pivots only one differs, and it is none of them."""
    monkeypatch.setattr(truncated_l1, "MAX_PIVOTS", 8)
    x = np.zeros(16)
    pivots = np.linspace(0, x.size - 1, 8).astype(int)
    x[np.setdiff1d(np.arange(x.size), pivots)[0]] = 1.0
    assert truncated_l1_line(x, slope * x + 1, np.ones(x.size), 1.0, rising=True)[:2] == pytest.approx((slope, 1))

"""The in-place median and order statistics against numpy, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mrac.robust_line.select import (
    _across,
    _count,
    _draw,
    _draw_medians,
    _keep_inside,
    _keep_outside,
    _sort_network,
    _window,
    median_in_place,
    order_statistics_in_place,
)

Floats = NDArray[np.float64]


def same(a: float, b: float) -> bool:
    return a == b or (np.isnan(a) and np.isnan(b))


def numpy_median(values: Floats) -> float:
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.median(values))


@pytest.mark.parametrize("kind", ["normal", "few values", "cauchy", "mostly one value"])
def test_median_is_numpys_at_every_size(kind: str) -> None:
    rng = np.random.default_rng(11)
    for size in [*range(1, 130), *rng.integers(130, 3000, 150).tolist()]:
        values = rng.standard_normal(size)
        if kind == "few values":
            values = np.round(values)
        elif kind == "cauchy":
            values = rng.standard_cauchy(size) ** 5
        elif kind == "mostly one value":
            values[rng.random(size) < 0.7] = 0.25
        assert median_in_place(values.copy()) == np.median(values)


@pytest.mark.parametrize("size", [20_000, 20_001, 1_000_000])
def test_median_of_large_arrays(size: int) -> None:
    rng = np.random.default_rng(size)
    for values in (rng.standard_normal(size), np.arange(size, dtype=float), rng.integers(0, 3, size).astype(float)):
        assert median_in_place(values.copy()) == np.median(values)


@pytest.mark.parametrize("size", [17, 100, 1225, 5000])
def test_arrangements_that_defeat_naive_pivots(size: int) -> None:
    up = np.arange(size, dtype=float)
    arrangements = [
        up,
        up[::-1].copy(),
        np.minimum(up, up[::-1]),
        up % 2.0,
        up % 48.0,
        np.full(size, 3.5),
        np.full(size, 5e-324),
        np.where(up < size // 2, -1.0, 1.0),
        np.where(up == 0.0, 1e308, -1e308),
    ]
    for values in arrangements:
        assert same(median_in_place(values.copy()), numpy_median(values))


def test_every_rank_of_an_array_is_found() -> None:
    rng = np.random.default_rng(5)
    for size in (1, 2, 16, 17, 33, 500):
        for values in (rng.standard_normal(size), rng.integers(0, 4, size).astype(float)):
            expected = np.sort(values)
            for rank in range(size):
                last = min(rank + 1, size - 1)
                assert order_statistics_in_place(values.copy(), rank, rank) == (expected[rank], expected[rank])
                assert order_statistics_in_place(values.copy(), rank, last) == (expected[rank], expected[last])


def test_infinities_are_ordinary_elements() -> None:
    rng = np.random.default_rng(6)
    for size in (3, 4, 50, 51, 700):
        for share in (0.1, 0.4, 0.6, 1.0):
            values = rng.standard_normal(size)
            hit = rng.random(size) < share
            values[hit] = rng.choice([-np.inf, np.inf], hit.sum(), p=[0.3, 0.7])
            assert same(median_in_place(values.copy()), numpy_median(values))
    assert median_in_place(np.full(40, np.inf)) == np.inf
    assert np.isnan(median_in_place(np.array([-np.inf, np.inf])))


def test_an_empty_array_has_no_median() -> None:
    assert np.isnan(median_in_place(np.empty(0)))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=120))
def test_median_of_any_floats(elements: list[float]) -> None:
    values = np.array(elements)
    assert same(median_in_place(values.copy()), numpy_median(values))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([-1e308, -5e-324, 0.0, 5e-324, 1.0, 1e308, np.inf]), min_size=17, max_size=200))
def test_median_of_extreme_ties(elements: list[float]) -> None:
    values = np.array(elements)
    assert same(median_in_place(values.copy()), numpy_median(values))


def test_the_network_sorts_sixteen() -> None:
    """By the 0-1 principle a network that errs does so on zeros and ones, of which each order has fifteen cuts."""
    rng = np.random.default_rng(8)
    for _ in range(1500):
        buffer = rng.permutation(16).astype(float)
        _sort_network(buffer)
        assert buffer.tolist() == list(range(16))


@pytest.mark.parametrize("size", [17, 100, 450])
def test_a_few_ranks_of_small_arrays(size: int) -> None:
    """As `test_every_rank_of_an_array_is_found`, and short enough for kernels that are not compiled."""
    rng = np.random.default_rng(size)
    for values in (rng.standard_normal(size), rng.integers(0, 4, size).astype(float), np.full(size, 2.0)):
        expected = np.sort(values)
        for rank in (0, 1, size // 3, size // 2, size - 2):
            found = order_statistics_in_place(values.copy(), rank, rank + 1)
            assert found == (expected[rank], expected[rank + 1])
        assert median_in_place(values.copy()) == np.median(values)


def test_samples_are_drawn_evenly_and_sorted() -> None:
    values, buffer = np.random.default_rng(9).permutation(1000).astype(float), np.empty(16)
    place = np.empty(1000)
    place[values.astype(int)] = np.arange(1000)
    for phase in (0, 12345, 1 << 31):
        _draw(values, 1000, buffer, phase)
        assert (np.diff(buffer) >= 0).all()
        # The golden ratio's multiples are never more than some three times their mean distance apart.
        assert np.diff(np.sort(place[buffer.astype(int)])).max() < 3 * 1000 / 16
        _draw_medians(values, 1000, buffer, phase)
        assert (np.diff(buffer) >= 0).all()
        assert set(buffer) <= set(values)


def test_medians_of_three_crowd_the_middle() -> None:
    values, buffer = np.arange(999.0), np.empty(16)
    of_one, of_three = [], []
    for phase in range(0, 1 << 32, 1 << 26):
        _draw(values, 999, buffer, phase)
        of_one.append(buffer.std())
        _draw_medians(values, 999, buffer, phase)
        of_three.append(buffer.std())
        assert abs(buffer.mean() - 499.0) < 150
    assert np.mean(of_three) < 0.85 * np.mean(of_one)


@pytest.mark.parametrize("size", [100, 399, 400, 3000])
@pytest.mark.parametrize("share", [0.25, 0.5])
def test_the_window_is_around_the_quantile(size: int, share: float) -> None:
    values, buffer = np.arange(size) / size, np.empty(16)
    windows = np.array([_window(values, size, share, buffer, phase) for phase in range(0, 1 << 32, 1 << 28)])
    assert (np.abs(windows[:, 0] - share) <= windows[:, 1]).mean() >= 0.7
    assert windows[:, 1].max() < 0.25
    assert windows[:, 0].mean() == pytest.approx(share, abs=0.05)


def test_parts_of_a_window() -> None:
    """The edges belong to the window."""
    values = np.array([5.0, 1.0, 3.0, 2.0, 7.0, 4.0, 9.0, 3.0])
    n, centre, radius = 7, 3.0, 1.0  # the last value is not looked at
    assert _count(values, n, centre, radius) == (1, 3)
    kept = values.copy()
    assert kept[: _keep_inside(kept, n, centre, radius)].tolist() == [3.0, 2.0, 4.0]
    for side, wanted in ((-1.0, [1.0]), (1.0, [5.0, 7.0, 9.0])):
        kept = values.copy()
        assert kept[: _keep_outside(kept, n, centre, radius, side)].tolist() == wanted
    assert _across(values, n, centre, radius, False) == (1.0, 2.0)
    assert _across(values, n, centre, radius, True) == (4.0, 5.0)
    assert _count(np.array([np.inf, 1.0, np.inf]), 3, 1.0, 0.5) == (0, 1)

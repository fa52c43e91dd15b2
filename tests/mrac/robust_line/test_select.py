"""The in-place median and order statistics against numpy, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mrac.robust_line.select import median_in_place, order_statistics_in_place

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

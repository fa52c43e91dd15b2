"""Slope selection, step by step, on few points: the search itself must find the slopes, not its fallback."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from mrac.robust_line.slope_selection import (
    _BETWEEN,
    _FOUND,
    _INEXACT,
    _SHRUNK,
    Search,
    _find,
    _new_search,
    _propose,
    _start,
    _try,
    candidate_capacity,
    sample_size,
    slope_by_inversion_counting,
)
from mrac.robust_line.slope_streaming import _next_above, _select, slope_by_streaming

Floats = NDArray[np.float64]


def made(kind: str, size: int = 24) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(size)
    x, y = rng.random(size), rng.normal(size=size)
    if kind == "tied":
        x, y = np.round(6 * x), np.round(2 * y)
        x[:2] = 0.0, 1.0
    elif kind == "affine":
        y = x / 3.0 + 0.7
    elif kind == "steep":
        y = 40.0 * x + 5.0 + 0.1 * y
    return x, y


def all_slopes(x: Floats, y: Floats) -> Floats:
    pairs = itertools.combinations(range(x.size), 2)
    return np.sort([(y[j] - y[i]) / (x[j] - x[i]) for i, j in pairs if x[i] != x[j]])


def started(x: Floats, y: Floats, capacity: int) -> tuple[Search, int]:
    search = _new_search(x, y, capacity)
    return search, _start(search)


@pytest.mark.parametrize("kind", ["plain", "tied", "steep"])
@pytest.mark.parametrize("capacity", [64, 10_000])
def test_the_search_finds_any_two_ranks(kind: str, capacity: int) -> None:
    x, y = made(kind)
    slopes = all_slopes(x, y)
    for rank in (0, slopes.size // 3, slopes.size - 2):
        search, total = started(x, y, capacity)
        assert total == slopes.size
        code, low, high = _find(search, rank, rank)
        assert code == _FOUND
        assert (low, high) == pytest.approx((slopes[rank], slopes[rank]), rel=1e-13)
        code, low, high = _find(search, rank, rank + 1)
        assert code in (_FOUND, _BETWEEN)
        if code == _FOUND:
            assert (low, high) == pytest.approx((slopes[rank], slopes[rank + 1]), rel=1e-13)


@pytest.mark.parametrize("kind", ["plain", "tied", "affine", "steep"])
@pytest.mark.parametrize("size", [2, 3, 12, 25])
@pytest.mark.parametrize("capacity", [8, 64, 0])
def test_the_median_by_three_ways(kind: str, size: int, capacity: int) -> None:
    x, y = made(kind, size)
    wanted = np.median(all_slopes(x, y))
    assert slope_by_inversion_counting(x, y, capacity) == pytest.approx(wanted, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("kind", ["plain", "tied"])
def test_streaming_finds_ranks_and_neighbours(kind: str) -> None:
    x, y = made(kind, 9)
    slopes = all_slopes(x, y)
    for rank in (0, slopes.size - 1):
        slope, upto = _select(x, y, rank)
        assert slope == slopes[rank]
        assert upto == np.count_nonzero(slopes <= slope)
        above = slopes[slopes > slope]
        assert _next_above(x, y, slope) == (above[0] if above.size else np.inf)
    assert slope_by_streaming(x, y) == np.median(slopes)


def test_a_try_moves_the_edge_of_the_side_without_the_ranks() -> None:
    x, y = made("tied", 12)
    slopes = all_slopes(x, y)
    middle = slopes.size // 2
    for at in (0.0, 0.25, -2.0, float(slopes[middle]), 3.0):
        search, total = started(x, y, 64)
        fewer, upto = np.count_nonzero(slopes < at), np.count_nonzero(slopes <= at)
        code = _try(search, at, middle, middle)
        if upto <= middle:
            assert (code, *search.edges, *search.counts) == (_SHRUNK, at, np.inf, upto, total)
        elif fewer > middle:
            assert (code, *search.edges, *search.counts) == (_SHRUNK, -np.inf, at, 0, fewer)
        else:
            assert (code, *search.edges, *search.counts) == (_FOUND, -np.inf, np.inf, 0, total)


def test_a_threshold_between_the_ranks_is_named_and_one_out_of_range_refused() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0])  # slopes 1, 2, 3
    assert _try(started(x, y, 8)[0], 1.5, 0, 1) == _BETWEEN
    assert _try(started(x, y, 8)[0], 2.0, 0, 1) == _BETWEEN
    assert _try(started(x, y, 8)[0], 2.0, 1, 1) == _FOUND
    search, _ = started(x, y, 8)
    for slope in (0.5 * search.exact[0], 2.0 * search.exact[1], -0.5 * search.exact[0]):
        assert _try(search, slope, 1, 1) == _INEXACT


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_proposed_thresholds_enclose_the_ranks_closely(share: float) -> None:
    x, y = made("plain", 40)
    slopes = all_slopes(x, y)
    rank = int(share * slopes.size)
    for seed in (0, 1 << 40, 2 << 40):
        search, _ = started(x, y, 512)
        _propose(search, rank, rank, seed, 0.0)
        low, low_too, high, high_too = search.proposed
        assert (low, high) == (low_too, high_too)
        below, upto = np.searchsorted(slopes, low), np.searchsorted(slopes, high, side="right")
        assert below <= rank < upto
        assert upto - below < 0.55 * slopes.size
        _propose(search, rank, rank, seed, 0.25)
        np.testing.assert_allclose(
            search.proposed, [low - abs(low) / 4, low + abs(low) / 4, high - abs(high) / 4, high + abs(high) / 4]
        )


def test_room_grows_with_the_points() -> None:
    assert [sample_size(n) for n in (10, 2048, 5000)] == [2048, 2048, 5000]
    assert [candidate_capacity(n) for n in (10, 3276, 3277, 5000)] == [32768, 32768, 32770, 50000]

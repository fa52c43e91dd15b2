"""Inversions of permutations against their definition."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from mrac.robust_line.inversions import (
    _target,
    bit_length,
    count_inversions,
    list_inversion_slopes,
    sample_inversion_slopes,
)

Permutation = NDArray[np.uint32]
SIZES = (1, 2, 3, 4, 5, 8, 9, 16, 17, 31)


def permutation(size: int) -> Permutation:
    return np.random.default_rng(size).permutation(size).astype(np.uint32)


def inversions(of: Permutation) -> list[tuple[int, int]]:
    """(larger, smaller) value of each."""
    return [(int(a), int(b)) for a, b in itertools.combinations(of, 2) if a > b]


def empty(like: Permutation) -> tuple[Permutation, Permutation]:
    return np.zeros_like(like), np.zeros_like(like)


def points(size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(size + 1)
    return np.cumsum(rng.uniform(0.5, 1.5, size)), rng.normal(size=size)


@pytest.mark.parametrize("size", SIZES)
def test_count(size: int) -> None:
    for made in (permutation(size), np.arange(size, dtype=np.uint32), np.arange(size, dtype=np.uint32)[::-1].copy()):
        before = made.copy()
        assert count_inversions(made, *empty(made)) == len(inversions(made))
        np.testing.assert_array_equal(made, before)


def test_bits() -> None:
    assert [bit_length(size) for size in (0, 1, 2, 3, 4, 5, 8, 9, 1024)] == [0, 0, 1, 2, 2, 3, 3, 4, 10]


@pytest.mark.parametrize("size", SIZES[1:])
def test_list(size: int) -> None:
    (x, y), made = points(size), permutation(size)
    wanted = sorted((y[a] - y[b]) / (x[a] - x[b]) for a, b in inversions(made))
    slopes = np.full(len(wanted) + 2, np.nan)
    assert list_inversion_slopes(made.copy(), np.zeros_like(made), x, y, slopes) == len(wanted)
    assert sorted(slopes[: len(wanted)].tolist()) == wanted
    assert np.isnan(slopes[len(wanted) :]).all()
    few = np.full(len(wanted) // 2, np.nan)
    assert list_inversion_slopes(made.copy(), np.zeros_like(made), x, y, few) == len(wanted)
    assert set(few.tolist()) <= set(wanted)


@pytest.mark.parametrize("seed", [0, 7 << 40])
def test_sample_has_one_of_each_stratum(seed: int) -> None:
    (x, y), made = points(31), permutation(31)
    total = len(inversions(made))
    every = np.empty(total)
    list_inversion_slopes(made.copy(), np.zeros_like(made), x, y, every)
    for size in (total, total // 2, total // 7, 1):
        slopes = np.full(size, np.nan)
        drawn = sample_inversion_slopes(made.copy(), np.zeros_like(made), x, y, total, seed, slopes)
        assert drawn == size
        at = [every.tolist().index(slope) for slope in slopes]
        assert [int((i + 0.5) * size / total) for i in at] == pytest.approx(list(range(size)), abs=1)
        assert (np.diff(at) > 0).all()


def splitmix64(state: int) -> int:
    """Steele, Lea and Flood (2014), in whole numbers of any length."""
    mask = (1 << 64) - 1
    z = state * 0x9E3779B97F4A7C15 & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("seed", [0, 3 << 40])
def test_strata_are_drawn_by_splitmix64(seed: int) -> None:
    for number in range(20):
        share = (splitmix64(number + seed) >> 11) / 2.0**53
        assert _target(number, 1000.0, seed) == int((number + share) * 1000.0)

import itertools

import numpy as np
import pytest

from mrac.robust_line.msac import MsacOptions
from mrac.robust_line.ransac import inlier_set


def test_prefers_the_tight_set_to_the_one_with_a_straggler_more() -> None:
    """What MSAC is for: RANSAC counts heads, and at a wide threshold a loose crowd has one more."""
    x = np.linspace(0, 1, 21)
    y = np.where(np.arange(21) % 2, 10 + x, 5 + x)
    y[2:-1:2] += np.where(np.arange(9) % 2, 0.9, -0.9)  # eleven within 1 of their line, ten exactly on theirs
    assert inlier_set(x, y, 1.0, 10_000, 0)[::2].all()
    np.testing.assert_array_equal(MsacOptions(threshold=1.0).inlier_set(x, y, np.ones(21)), np.arange(21) % 2 == 1)


def test_residuals_are_counted_in_units() -> None:
    x = np.linspace(0, 1, 12)
    y = 9 * x + 1
    y[3] *= 1.15
    y[8] *= 1.25
    agree = MsacOptions(threshold=0.17).inlier_set(x, y, np.abs(y))
    assert agree[3]
    assert not agree[8]
    assert agree.sum() == 11


def test_draws_of_one_x_leave_all_in() -> None:
    x = np.zeros(500)
    x[0] = 1.0
    assert MsacOptions(trials=1, threshold=0.1).inlier_set(x, np.arange(500.0), np.ones(500)).all()


def test_the_seed_decides_where_not_all_pairs_are_tried() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random(300), rng.random(300) + 1
    runs = [MsacOptions(trials=20, seed=seed).inlier_set(x, y, y) for seed in (1, 1, 2, 3, 4)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert any((runs[0] != run).any() for run in runs[2:])


@pytest.mark.parametrize("seed", range(4))
def test_is_the_best_of_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, unit = rng.uniform(1, 3, 12).round(1), rng.uniform(0.5, 2.0, 12)
    y = 2 * x - 1 + 0.1 * rng.normal(size=12)
    y[:4] += rng.normal(size=4)

    def errors(i: int, j: int) -> np.ndarray:
        slope = (y[i] - y[j]) / (x[i] - x[j])
        return np.asarray(np.abs(y - y[i] - slope * (x - x[i])) / unit)

    pairs = [pair for pair in itertools.combinations(range(12), 2) if x[pair[0]] != x[pair[1]]]
    best = min(pairs, key=lambda pair: (np.minimum(errors(*pair), 0.2) ** 2).sum())
    found = MsacOptions(threshold=0.2).inlier_set(x, y, unit)
    np.testing.assert_array_equal(found, errors(*best) <= 0.2 + 1e-12)


@pytest.mark.parametrize("y", [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
def test_without_a_line_no_two_points_are_taken_for_one(y: list[float]) -> None:
    """Every draw is of one x; the only other point makes a line of slope 0 or 1 with the first one."""
    x = np.zeros(500)
    x[0] = 1.0
    assert MsacOptions(trials=1, threshold=0.1).inlier_set(x, np.array(y + [9.0] * 498), np.ones(500)).all()

import itertools

import numpy as np
import pytest

from mrac.robust_line.ransac import inlier_set


@pytest.mark.parametrize("seed", range(6))
def test_is_the_largest_set_of_all_pairs_and_of_equals_the_tightest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 3, 10).round(1)
    y = 2 * x - 1 + 0.3 * rng.normal(size=10)

    def errors(i: int, j: int) -> np.ndarray:
        slope = (y[i] - y[j]) / (x[i] - x[j])
        return np.asarray(np.abs(y - (slope * x + (y[i] - slope * x[i]))))

    pairs = [pair for pair in itertools.combinations(range(10), 2) if x[pair[0]] != x[pair[1]]]
    near = {pair: errors(*pair) <= 0.2 for pair in pairs}
    best = min(pairs, key=lambda pair: (-near[pair].sum(), errors(*pair)[near[pair]].sum()))
    np.testing.assert_array_equal(inlier_set(x, y, 0.2, 45, 0), near[best])


def test_the_threshold_itself_is_near_enough() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0])
    assert inlier_set(x, y, 1.0, 100, 0).all()
    assert inlier_set(x, y, 0.99, 100, 0).sum() == 2


def test_two_points_are_a_set() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 5.0, -3.0])
    assert inlier_set(x, y, 1e-6, 100, 0).sum() == 2


@pytest.mark.parametrize(("first", "second", "rest"), [(1, 0, 9), (1, 1, 9), (0, 9, 9), (9, 0, 0)])
def test_without_a_line_all_are_inliers(first: float, second: float, rest: float) -> None:
    """The only draw is of one x, 0; a line of slope 0 or 1 that nobody drew must not select."""
    x, y = np.zeros(500), np.full(500, float(rest))
    x[0], y[:2] = 1.0, (first, second)
    assert inlier_set(x, y, 0.1, 1, 0).all()

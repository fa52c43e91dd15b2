import numpy as np
import pytest

from mrac.robust_line.gnc import GncOptions


def test_finds_the_inliers_that_least_squares_loses() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(60)
    y = 2 * x + 3 + 0.02 * rng.normal(size=60)
    y[:20] = rng.uniform(5, 12, 20)
    wrong = np.abs(y - (2 * x + 3)) > 1.0
    plain = np.abs(y - np.polyval(np.polyfit(x, y, 1), x)) > 0.1 * y
    found = ~GncOptions(threshold=0.1).inlier_set(x, y, np.abs(y))
    assert (plain != wrong).sum() > 5
    np.testing.assert_array_equal(found[wrong], True)
    assert found.sum() <= wrong.sum() + 3


def test_minimises_truncated_squares() -> None:
    """Beside the best line of a fine grid."""
    rng = np.random.default_rng(3)
    x = rng.random(40)
    y = x + 2 + 0.05 * rng.normal(size=40)
    y[:8] += 2
    used = GncOptions(threshold=0.15).inlier_set(x, y, np.ones(40))
    line = np.polyfit(x[used], y[used], 1)

    def cost(slope: float, shift: float) -> float:
        return float(np.minimum((y - slope * x - shift) ** 2, 0.15**2).sum())

    grid = min(cost(a, b) for a in np.linspace(0, 2, 81) for b in np.linspace(1, 3, 81))
    assert cost(*line) <= grid + 1e-3


def test_all_within_the_threshold_are_inliers_at_once() -> None:
    x = np.linspace(0, 1, 5)
    assert GncOptions().inlier_set(x, 2 * x + 1, np.ones(5)).all()


@pytest.mark.parametrize("y", [[1.0, 9.0, 1.0, 9.0], [1.0, 100.0, 1e4, 1e6]])
def test_where_nothing_agrees_a_line_is_left(y: list[float]) -> None:
    x = np.array([0.0, 0.0, 1.0, 1.0])
    used = GncOptions(threshold=1e-3).inlier_set(x, np.array(y), np.ones(4))
    assert np.ptp(x[used]) > 0


def test_a_reading_far_too_near_does_not_outweigh_the_others() -> None:
    """Divided by itself, a reading of 0.1 m would count 2,500 times as much as one of 5 m."""
    x = np.linspace(0, 1, 30)
    y = 2 * x + 4
    y[::7] = 0.1
    assert not GncOptions().inlier_set(x, y, np.abs(y))[::7].any()

import numpy as np
import pytest

from mrac.conventions import BoolArray, FloatArray
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


def by_the_paper(x: FloatArray, y: FloatArray, unit: FloatArray, c: float, growth: float) -> BoolArray:
    """GNC-TLS as in the paper, section V: three cases of the weight, and numpy's least squares."""
    unit = np.maximum(unit, np.median(unit))

    def errors(weight: FloatArray) -> FloatArray:
        line = np.polyfit(x[weight > 0], y[weight > 0], 1, w=np.sqrt(weight[weight > 0]) / unit[weight > 0])
        return np.asarray(np.abs(y - np.polyval(line, x)) / unit)

    weight = np.ones(x.size)
    r = errors(weight)
    if 2 * r.max() ** 2 <= c**2:
        return weight > 0
    mu = c**2 / (2 * r.max() ** 2 - c**2)
    while True:
        between = c / r * np.sqrt(mu * (mu + 1)) - mu
        weight = np.where(r**2 >= (mu + 1) / mu * c**2, 0.0, np.where(r**2 <= mu / (mu + 1) * c**2, 1.0, between))
        if np.isin(weight, (0.0, 1.0)).all():
            return weight >= 0.5
        r, mu = errors(weight), growth * mu


@pytest.mark.parametrize("growth", [1.4, 3.0])
@pytest.mark.parametrize("seed", range(6))
def test_is_the_paper_s_algorithm(seed: int, growth: float) -> None:
    rng = np.random.default_rng(seed)
    x, unit = rng.uniform(1.0, 4.0, 30), rng.uniform(0.5, 2.0, 30)
    y = x + 1.0 + 0.15 * rng.normal(size=30)
    y[:8] += rng.normal(size=8)
    found = GncOptions(threshold=0.2, growth=growth).inlier_set(x, y, unit)
    assert 10 < found.sum() < 30
    np.testing.assert_array_equal(found, by_the_paper(x, y, unit, 0.2, growth))


def test_the_first_control_parameter_is_the_paper_s() -> None:
    """Where it grows so fast that a few rounds are all, what it starts from decides."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, unit = rng.uniform(1.0, 4.0, 30), rng.uniform(0.5, 2.0, 30)
        y = x + 1.0 + 0.15 * rng.normal(size=30)
        y[:8] += rng.normal(size=8)
        found = GncOptions(threshold=0.2, growth=100.0).inlier_set(x, y, unit)
        np.testing.assert_array_equal(found, by_the_paper(x, y, unit, 0.2, 100.0))


def test_x_that_differ_in_the_tenth_digit_are_one_x() -> None:
    """No line goes through them, so those that agree are not followed there."""
    x = np.array([1.0, 1.0 + 1e-11, 1.0 + 2e-11, 3.0])
    y = np.array([1.0, 1.0, 1.0, 9.0])
    assert GncOptions(threshold=1e-3).inlier_set(x, y + np.array([0.0, 0.5, -0.5, 0.0]), np.ones(4))[3]

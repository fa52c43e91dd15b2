import numpy as np
import pytest

from mrac.robust_line.slopes import differences_may_overflow, mean_slope, median_slope_in_place


@pytest.mark.parametrize(
    ("low", "high", "mean"),
    [
        (1.0, 4.0, 2.5), (-3.0, -1.0, -2.0), (0.1, 0.1, 0.1), (1e308, 1.5e308, 1.25e308), (-1.5e308, -1e308, -1.25e308),
        (-np.inf, np.inf, 0.0), (1.0, np.inf, np.inf), (-np.inf, 1.0, -np.inf), (np.inf, np.inf, np.inf),
        (1.7e308, 1.7e308, 1.7e308), (-1.7e308, 1.7e308, 0.0), (5e-324, 5e-324, 5e-324),
        (5e-324, 1e-323, 1e-323),
    ],
)  # fmt: skip
def test_mean_of_two_slopes(low: float, high: float, mean: float) -> None:
    assert mean_slope(low, high) == mean


@pytest.mark.parametrize("count", [1, 2, 3, 4, 17, 30])
def test_median_of_the_least(count: int) -> None:
    values = np.random.default_rng(count).normal(size=30)
    values[count:] = np.inf
    assert median_slope_in_place(values.copy(), count) == np.median(values[:count])


def test_nothing_has_no_median() -> None:
    assert np.isnan(median_slope_in_place(np.ones(3), 0))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_overflow_is_feared_from_half_the_range_on(sign: float) -> None:
    edge = sign * 2.0**1022
    beyond = np.nextafter(edge, sign * np.inf)
    zeros = np.zeros(3)
    assert not differences_may_overflow(np.full(3, edge), np.full(3, edge))
    assert differences_may_overflow(np.array([0.0, 0.0, beyond]), zeros)
    assert differences_may_overflow(zeros, np.array([beyond, 0.0, 0.0]))
    assert differences_may_overflow(np.full(3, beyond), np.full(3, beyond))

"""Orders of residuals against fractions, which do not round."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from mrac.robust_line.residual_order import (
    Points,
    _residuals,
    _sort_by,
    exact_slope_range,
    order_by_residual,
    reverse_distinct,
    sort_buffers,
    sort_points,
)

Floats = NDArray[np.float64]


def made(size: int, seed: int, tied: bool) -> Points:
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(-3, 4, (2, size)) if tied else rng.normal(size=(2, size))).astype(float)
    return sort_points(x, y, sort_buffers(size))


def exact(points: Points, slope: float) -> list[Fraction]:
    return [Fraction(y) - Fraction(slope) * Fraction(x) for x, y in zip(points.x, points.y, strict=True)]


@pytest.mark.parametrize(
    "values", [[3.0, -1.0, 2.5, -0.5, 3.0, 0.0, 1e300, -1e-300, 5e-324], [1.0] * 6, [-2.0, 2.0, 1.0]]
)
def test_sorting_keeps_the_order_of_equals(values: list[float]) -> None:
    item = np.arange(len(values), dtype=np.uint32)
    _sort_by(np.array(values), item, sort_buffers(len(values)))
    assert item.tolist() == np.argsort(values, kind="stable").tolist()


@pytest.mark.parametrize("tied", [True, False])
def test_points_are_sorted_by_x_then_y(tied: bool) -> None:
    rng = np.random.default_rng(2)
    x, y = (rng.integers(-3, 4, (2, 30)) if tied else rng.normal(size=(2, 30))).astype(float)
    x[0] = -0.0
    points = sort_points(x, y, sort_buffers(30))
    order = np.lexsort((y, x))
    np.testing.assert_array_equal(points.x, x[order])
    np.testing.assert_array_equal(points.y, y[order])
    assert not np.signbit(points.x[points.x == 0.0]).any()


@pytest.mark.parametrize("slope", [0.0, 1.0, -0.3, 1e10 / 3.0, -7e-11])
def test_residuals_have_twice_the_digits(slope: float) -> None:
    points = made(40, 3, tied=False)
    high, low = np.empty(40), np.empty(40)
    _residuals(points, slope, high, low)
    for h, lo, wanted, x, y in zip(high, low, exact(points, slope), points.x, points.y, strict=True):
        size = abs(Fraction(y)) + abs(Fraction(slope) * Fraction(x))
        assert abs(Fraction(h) + Fraction(lo) - wanted) <= size * Fraction(1, 2**103)
        assert h == float(Fraction(h) + Fraction(lo)), "the first part is the sum, rounded"


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("slope", [0.0, 1.0, -0.5, 1.0 / 3.0])
def test_orders_at_a_slope(slope: float, tied: bool) -> None:
    points = made(24, 4, tied)
    below, upto = np.empty(24, np.uint32), np.empty(24, np.uint32)
    ties = order_by_residual(points, slope, sort_buffers(24), below, upto)
    residual = exact(points, slope)
    assert below.tolist() == sorted(range(24), key=lambda i: (residual[i], i))
    # Of equal residuals those of larger x come first; those of equal x keep their order.
    assert upto.tolist() == sorted(range(24), key=lambda i: (residual[i], -points.x[i], i))
    pairs = [(i, j) for i in range(24) for j in range(i) if points.x[i] != points.x[j]]
    assert ties == sum(residual[i] == residual[j] for i, j in pairs)


def test_close_residuals_are_told_apart_by_their_second_part() -> None:
    """All residuals are 1 but for less than a double can hold."""
    points = Points(np.array([0.0, 1.0, 1.0, 2.0]), np.array([1.0, 4.0 / 3.0, 4.0 / 3.0 + 2**-52, 5.0 / 3.0]))
    below, upto = np.empty(4, np.uint32), np.empty(4, np.uint32)
    for slope in (1.0 / 3.0, np.nextafter(1.0 / 3.0, 1.0)):
        residual = exact(points, slope)
        ties = order_by_residual(points, slope, sort_buffers(4), below, upto)
        assert below.tolist() == sorted(range(4), key=lambda i: (residual[i], i))
        pairs = [(i, j) for i in range(4) for j in range(i) if points.x[i] != points.x[j]]
        assert ties == sum(residual[i] == residual[j] for i, j in pairs)


def test_reversing_leaves_points_of_equal_x() -> None:
    x = np.array([9.0, 0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 9.0])
    order = np.arange(8, dtype=np.uint32)
    assert reverse_distinct(x, order, 1, 7) == 6 * 5 // 2 - 1 - 3
    assert order.tolist() == [0, 4, 5, 6, 2, 3, 1, 7]


def test_the_range_of_exact_slopes() -> None:
    points = Points(np.array([-1.0, 1.0, 1.0, 4.0]), np.array([3.0, -8.0, -6.0, 5.0]))
    assert exact_slope_range(points) == (2.0**-100 * 8.0 / 2.0, 2.0**100 * 2.0 / 4.0)
    small = Points(np.array([0.0, 0.5]), np.array([0.0, 2.0**-950]))
    assert exact_slope_range(small) == (2.0**-1000 / 0.5, 2.0**990)
    large = Points(np.array([0.0, 2.0**900]), np.array([0.0, 1.0]))
    assert exact_slope_range(large) == (2.0**-100 / 2.0**900, 2.0**90)
    for nothing in (Points(np.zeros(2), np.arange(2.0)), Points(np.array([0.0, 2.0**991]), np.arange(2.0))):
        assert exact_slope_range(nothing) == (np.inf, -np.inf)
    assert exact_slope_range(Points(np.array([0.0, 2.0**990]), np.arange(2.0)))[1] == 1.0

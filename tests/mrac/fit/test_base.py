"""What every fit returns where no line is determined: numbers by hand."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mrac.fit.base import y_per_log_depth
from mrac.fit.ols import Ols
from mrac.space import Space
from mrac.types import FitResult, Samples

Make = Callable[..., Samples]


def check(
    fit: FitResult, line: tuple[float, float], var: tuple[float, float], sigma: float, status: str, K: int
) -> None:
    assert (fit.scale, fit.shift, fit.sigma) == pytest.approx((*line, sigma))
    np.testing.assert_allclose(fit.covariance, np.diag(var), atol=1e-15)
    assert fit.status == status
    assert fit.used.tolist() == [True] * K


def test_no_anchor_and_no_field(make_samples: Make) -> None:
    check(Ols()(make_samples(None, [])), (0.0, 3.0), (0.0, 9.0), 3.0, "no_anchors", 0)
    check(Ols()(make_samples(None, [], "log_depth")), (0.0, np.log(3)), (0.0, 1.0), 1.0, "no_anchors", 0)


@pytest.mark.parametrize(
    ("space", "line", "var", "sigma"),
    [
        ("depth", (1.0, 0.0), (1.0, 0.0), 3.0),
        ("inverse_depth", (1 / 9, 0.0), (1 / 81, 0.0), 1 / 3),
        ("log_depth", (1.0, np.log(3) - 3.0), (0.0, 1.0), 1.0),
    ],
)
def test_no_anchor_but_a_field(
    space: Space, line: tuple[float, float], var: tuple[float, float], sigma: float, make_samples: Make
) -> None:
    """As if one read 3 m at the middle of the range, 3; uncertain by a factor of e."""
    check(Ols()(replace(make_samples([], [], space), x_range=(1.0, 5.0))), line, var, sigma, "no_anchors", 0)


def test_anchors_without_a_field(make_samples: Make) -> None:
    check(Ols()(make_samples(None, [4.0])), (0.0, 4.0), (0.0, 1.44), 1.2, "one_anchor", 1)
    z = [1.0, 2.0, 8.0]
    spread = float(np.std(np.log(z)))
    check(Ols()(make_samples(None, z)), (0.0, 2.0), (0.0, (2 * spread) ** 2 / 3), 2 * spread, "ok", 3)
    check(Ols()(make_samples(None, [2.0, 2.0])), (0.0, 2.0), (0.0, 0.18), 0.6, "ok", 2)


@pytest.mark.parametrize(
    ("x", "space", "native", "line", "var", "sigma"),
    [
        (2.0, "depth", True, (2.0, 0.0), (0.36, 0.0), 1.2),
        (2.0, "depth", False, (0.0, 4.0), (0.0, 1.44), 1.2),
        (0.0, "depth", True, (0.0, 4.0), (0.0, 1.44), 1.2),
        (1e-30, "depth", True, (0.0, 4.0), (0.0, 1.44), 1.2),
        (2e-30, "depth", True, (2e30, 0.0), ((1.2 / 2e-30) ** 2, 0.0), 1.2),
        (0.5, "log_depth", True, (1.0, np.log(4) - 0.5), (0.0, 0.09), 0.3),
        (0.5, "log_depth", False, (0.0, np.log(4)), (0.0, 0.09), 0.3),
    ],
)
def test_one_anchor(
    x: float,
    space: Space,
    native: bool,
    line: tuple[float, float],
    var: tuple[float, float],
    sigma: float,
    make_samples: Make,
) -> None:
    fit = Ols()(replace(make_samples([x], [4.0], space), native=native))
    check(fit, line, var, sigma, "one_anchor", 1)


def test_anchors_of_one_x_are_as_one_at_their_medians(make_samples: Make) -> None:
    fit = Ols()(make_samples([2.0] * 3, [3.0, 4.0, 9.0]))
    check(fit, (2.0, 0.0), (0.36, 0.0), 1.2, "constant_relative_depth", 3)


def test_two_anchors(make_samples: Make) -> None:
    fit = Ols()(make_samples([1.0, 3.0], [2.0, 8.0]))
    assert (fit.scale, fit.shift, fit.sigma) == pytest.approx((3.0, -1.0, 0.3 * 5.0))
    # x has mean 2 and a sum of squares of 2.
    np.testing.assert_allclose(fit.covariance, 1.5**2 * np.array([[0.5, -1.0], [-1.0, 0.5 + 2.0]]))
    assert (fit.status, fit.used.tolist()) == ("two_anchors", [True, True])


@pytest.mark.parametrize(("z_m", "native", "line"), [((8.0, 2.0), True, (2.5, 0.0)), ((4.0, 4.0), True, (2.0, 0.0))])
def test_two_anchors_of_an_impossible_slope(
    z_m: tuple[float, float], native: bool, line: tuple[float, float], make_samples: Make
) -> None:
    fit = Ols()(make_samples([1.0, 3.0], list(z_m)))
    assert ((fit.scale, fit.shift), fit.status) == (line, "two_anchors")
    other = Ols()(replace(make_samples([1.0, 3.0], list(z_m)), native=False))
    assert other(np.array([1.0, 3.0])) == pytest.approx(z_m), "x of another space may fall"


def test_a_gentle_slope_is_a_slope(make_samples: Make) -> None:
    fit = Ols()(make_samples([1.0, 3.0], [2.0, 2.5]))
    assert (fit.scale, fit.shift) == pytest.approx((0.25, 1.75))
    flat = Ols()(make_samples([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]))
    assert (flat.scale, flat.status) == (0.0, "ok")
    falling = replace(make_samples([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]), native=False)
    assert Ols()(falling).status == "ok"


def test_y_per_log_depth() -> None:
    assert [y_per_log_depth(-4.0, space) for space in ("depth", "inverse_depth", "log_depth")] == [4.0, 4.0, 1.0]

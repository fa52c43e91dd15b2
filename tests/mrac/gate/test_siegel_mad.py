from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import siegelslopes

from mrac.gate import siegel_mad
from mrac.gate.siegel_mad import SiegelMad, slope_of_all
from mrac.types import Samples


def test_the_verdict_is_by_scipy_s_line_and_the_median_deviation(make_samples: Callable[..., Samples]) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(31)
    z = 3 * x + 2 + 0.1 * rng.normal(size=31)
    z[:12] += 3.0
    made = SiegelMad()(make_samples(x, z))
    residual = z - siegelslopes(z, x).slope * x
    residual -= np.median(residual)
    sigma = 1.4826 * np.median(np.abs(residual - np.median(residual)))
    np.testing.assert_array_equal(made.keep, np.abs(residual) <= 2.0 * sigma)
    np.testing.assert_allclose(made.score, np.abs(residual) / sigma, rtol=1e-9)
    assert not made.keep[:12].any()


@pytest.mark.parametrize("size", [9, 10, 11, 25])
def test_of_many_points_some_give_the_slope_evenly_spaced(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(siegel_mad, "MAX_FOR_SLOPE", 10)
    rng = np.random.default_rng(size)
    x, y = rng.random(size), rng.random(size)
    some = np.linspace(0, size - 1, min(size, 10)).astype(int)
    assert some[0] == 0
    assert some[-1] == size - 1
    assert slope_of_all(x, y) == siegelslopes(y[some], x[some]).slope


def test_where_those_share_one_x_all_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(siegel_mad, "MAX_FOR_SLOPE", 3)
    x = np.array([0.5, 0.0, 0.5, 0.1, 0.5])
    y = np.array([1.0, 0.0, 1.0, 0.2, 1.0])
    assert slope_of_all(x, y) == pytest.approx(2.0)


def test_six_thousand_take_half_a_second() -> None:
    assert siegel_mad.MAX_FOR_SLOPE == 6000

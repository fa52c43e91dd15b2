import numpy as np
import pytest
from scipy import stats

from mrac.errors import ContractError
from mrac.lognormal import interval, log_deviation, probability_nearer

DEPTH_M = np.array([[0.5, 2.0, 9.0], [80.0, 2.0, 1e-3]], np.float32)
SIGMA_M = np.array([[0.01, 0.5, 9.0], [8.0, 20.0, 1e-6]], np.float32)


def reference() -> stats.rv_continuous:
    return stats.lognorm(s=np.arcsinh(SIGMA_M.astype(np.float64) / DEPTH_M), scale=DEPTH_M.astype(np.float64))


def test_sigma_is_half_the_width_of_one_deviation_to_either_side() -> None:
    s = log_deviation(DEPTH_M, SIGMA_M).astype(np.float64)
    np.testing.assert_allclose(DEPTH_M * (np.exp(s) - np.exp(-s)) / 2, SIGMA_M, rtol=1e-5)


@pytest.mark.parametrize("d_m", [1e-3, 0.49, 0.5, 2.0, 2.1, 75.0, 1e4])
def test_probabilities_are_scipy_s(d_m: float) -> None:
    ours = probability_nearer(DEPTH_M, SIGMA_M, d_m)
    assert ours.dtype == np.float32
    assert ours.shape == DEPTH_M.shape
    np.testing.assert_allclose(ours, reference().cdf(d_m), atol=2e-4)


def test_the_depth_is_the_median() -> None:
    assert probability_nearer(DEPTH_M[:1, 1:2], SIGMA_M[:1, 1:2], 2.0) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(("d_m", "chance"), [(1e-300, 0.0), (5e-324, 0.0), (1e300, 1.0)])
def test_any_distance_is_taken(d_m: float, chance: float) -> None:
    assert (probability_nearer(DEPTH_M, SIGMA_M, d_m) == chance).all()


@pytest.mark.parametrize("d_m", [0.0, -1.0, np.nan, np.inf])
def test_what_is_no_distance_is_refused(d_m: float) -> None:
    with pytest.raises(ContractError, match=r"probability_nearer.*finite and > 0"):
        probability_nearer(DEPTH_M, SIGMA_M, d_m)


@pytest.mark.parametrize("level", [0.05, 0.68, 0.9, 0.999999])
def test_intervals_are_scipy_s(level: float) -> None:
    low_m, high_m = interval(DEPTH_M, SIGMA_M, level)
    assert low_m.dtype == high_m.dtype == np.float32
    expected_low, expected_high = reference().interval(level)
    np.testing.assert_allclose(low_m, expected_low, rtol=1e-4)
    np.testing.assert_allclose(high_m, expected_high, rtol=1e-4)


def test_an_interval_holds_its_share() -> None:
    low_m, high_m = interval(DEPTH_M[:1, :2], SIGMA_M[:1, :2], 0.9)
    for i, limit_m in ((0, low_m[0, 0]), (1, low_m[0, 1])):
        assert probability_nearer(DEPTH_M, SIGMA_M, float(limit_m))[0, i] == pytest.approx(0.05, abs=1e-3)
    for i, limit_m in ((0, high_m[0, 0]), (1, high_m[0, 1])):
        assert probability_nearer(DEPTH_M, SIGMA_M, float(limit_m))[0, i] == pytest.approx(0.95, abs=1e-3)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 90.0, np.nan])
def test_what_is_no_probability_is_refused(level: float) -> None:
    with pytest.raises(ContractError, match=r"interval.*between 0 and 1"):
        interval(DEPTH_M, SIGMA_M, level)

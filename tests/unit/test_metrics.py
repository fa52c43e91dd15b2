import numpy as np
import pytest
from sklearn.metrics import mean_absolute_percentage_error, root_mean_squared_error, root_mean_squared_log_error

from mrac import ContractError
from mrac.metrics import depth_metrics


def test_against_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    truth = rng.uniform(1, 10, (8, 9))
    predicted = truth * rng.uniform(0.6, 1.7, truth.shape)
    valid = rng.random(truth.shape) > 0.3
    p, g = predicted[valid], truth[valid]
    m = depth_metrics(predicted, truth, valid)
    assert m.abs_rel == pytest.approx(mean_absolute_percentage_error(g, p))
    assert m.rmse == pytest.approx(root_mean_squared_error(g, p))
    assert m.rmse_log == pytest.approx(root_mean_squared_log_error(g - 1, p - 1))
    assert m.log10 == pytest.approx(np.abs(np.log10(p / g)).mean())
    assert m.sq_rel == pytest.approx(((p - g) ** 2 / g).mean())


def test_thresholds_are_strict() -> None:
    truth = np.full((1, 4), 4.0)
    predicted = np.array([[4.0, 5.0, 4.99, 3.2]])
    m = depth_metrics(predicted, truth, np.ones((1, 4), bool))
    assert m.delta1 == 0.5
    assert m.delta2 == m.delta3 == 1.0


def test_no_valid_pixel_is_refused() -> None:
    with pytest.raises(ContractError, match="no valid pixel"):
        depth_metrics(np.ones((2, 2)), np.ones((2, 2)), np.zeros((2, 2), bool))

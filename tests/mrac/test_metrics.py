import numpy as np
import pytest
from sklearn.metrics import (
    mean_absolute_percentage_error,
    precision_recall_fscore_support,
    root_mean_squared_error,
    root_mean_squared_log_error,
)

from mrac import ContractError
from mrac.metrics import clip_depth, coverage, depth_metrics, gate_metrics, score_depth


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


def test_predictions_are_clipped_before_they_are_scored() -> None:
    truth = np.array([[1.0, 2.0, 4.0, 8.0, 5.0]])
    predicted = np.array([[np.nan, np.inf, -3.0, 8.0, np.nan]], np.float32)
    scored = np.array([[True, True, True, True, False]])
    found = score_depth(predicted, truth, scored, 0.5, 10.0)
    np.testing.assert_array_equal(clip_depth(predicted, 0.5, 10.0), [[0.5, 10.0, 0.5, 8.0, 0.5]])
    assert found.metrics == depth_metrics(np.array([[0.5, 10.0, 0.5, 8.0, 1.0]]), truth, scored)
    assert found.clipped == 0.75
    assert found.num_pixels == 4
    assert np.isnan(predicted[0, 0])
    with pytest.raises(ContractError, match="no valid pixel"):
        score_depth(predicted, truth, ~scored & scored, 0.5, 10.0)


def test_a_prediction_within_the_range_is_scored_as_it_is() -> None:
    rng = np.random.default_rng(1)
    truth, predicted = rng.uniform(1, 9, (2, 6, 7)).astype(np.float32)
    scored = rng.random((6, 7)) < 0.5
    found = score_depth(predicted, truth, scored, 1e-3, 10.0)
    assert found.metrics == depth_metrics(predicted, truth, scored)
    assert found.clipped == 0.0


def test_gate_against_scikit_learn() -> None:
    rng = np.random.default_rng(2)
    wrong, keep = rng.random(200) < 0.25, rng.random(200) < 0.6
    found = gate_metrics(keep, wrong)
    precision, recall, f1, _ = precision_recall_fscore_support(wrong, ~keep, average="binary")
    assert (found.precision, found.recall, found.f1) == pytest.approx((precision, recall, f1))
    assert (found.injected, found.rejected) == (wrong.sum(), (~keep).sum())
    assert found.to_dict()["caught"] == (wrong & ~keep).sum()


def test_gate_ratios_without_a_denominator_are_none() -> None:
    clean, none = np.zeros(4, bool), np.ones(4, bool)
    nothing = gate_metrics(none, clean)
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)
    missed = gate_metrics(none, ~clean)
    assert (missed.precision, missed.recall, missed.f1) == (None, 0.0, 0.0)
    needless = gate_metrics(~none, clean)
    assert (needless.precision, needless.recall, needless.f1) == (0.0, None, 0.0)
    assert gate_metrics(~none, none).f1 == 1.0
    with pytest.raises(ContractError, match="the same shape"):
        gate_metrics(none, clean[:2])


def test_coverage_of_a_calibrated_uncertainty_is_its_level() -> None:
    rng = np.random.default_rng(3)
    truth = rng.uniform(2, 9, (200, 300))
    sigma = rng.uniform(0.05, 0.5, truth.shape)
    predicted = truth + sigma * rng.normal(size=truth.shape)
    valid = rng.random(truth.shape) < 0.9
    predicted[~valid] = np.nan
    for level, share in coverage(predicted, sigma, truth, valid).items():
        assert share == pytest.approx(level, abs=0.01)
    assert coverage(predicted, sigma / 2, truth, valid, [0.9])[0.9] < 0.65
    assert coverage(predicted, sigma * 2, truth, valid, [0.9])[0.9] > 0.98
    with pytest.raises(ContractError, match="no valid pixel"):
        coverage(predicted, sigma, truth, np.zeros_like(valid))

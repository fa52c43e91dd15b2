"""A gate of a scikit-learn estimator."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pytest

from mrac import ContractError
from mrac.gate._estimator import EstimatorGate
from mrac.types import Samples


class Line:
    """y = 2 x, and the mask that it was given."""

    def __init__(self, mask: Any, **more: float) -> None:
        self.mask = mask
        self.__dict__.update(more)

    def fit(self, X: Any, y: Any) -> Self:
        assert X.shape == (4, 1)
        self.inlier_mask_ = self.mask
        return self

    def predict(self, X: Any) -> Any:
        return 2.0 * X


@pytest.fixture
def samples(make_samples: Callable[..., Samples]) -> Samples:
    return make_samples([1.0, 2.0, 3.0, 4.0], [2.1, 3.8, 6.4, 1.0])


KEEP = np.array([True, True, True, False])


def test_residuals_are_stated_in_the_inliers_deviation(samples: Samples) -> None:
    made = EstimatorGate(Line(KEEP))(samples)
    np.testing.assert_allclose(made.score, np.array([0.1, 0.2, 0.4, 7.0]) / (1.4826 * 0.2))
    assert made.reason.tolist() == ["consistent"] * 3 + ["nearer_than_fit"]
    np.testing.assert_array_equal(made.keep, KEEP)


def test_or_in_the_estimator_s_own(samples: Samples) -> None:
    estimator = Line(KEEP, sigma_=0.5)
    made = EstimatorGate(estimator)(samples)
    np.testing.assert_allclose(made.score, np.array([0.1, 0.2, 0.4, 7.0]) / 0.5)
    assert not hasattr(estimator, "inlier_mask_"), "a copy was fitted"
    assert EstimatorGate(estimator).stage_name == "Line"


def test_where_it_keeps_nothing_all_are_kept(samples: Samples) -> None:
    made = EstimatorGate(Line(np.zeros(4, bool)))
    assert made(samples).status == "all_anchors_rejected"
    assert samples.x is not None
    score = made.judge_line(samples, samples.x, samples.y).score
    assert score[3] == pytest.approx(70 * score[0]), "relative to the largest"
    assert score[3] > 100.0


@pytest.mark.parametrize("mask", [None, [True] * 4, np.ones(3, bool), np.ones(4)])
def test_a_mask_is_needed(mask: Any, samples: Samples) -> None:
    with pytest.raises(ContractError, match=r"gate Line: after fit its inlier_mask_ is .*\(4,\) bool is needed"):
        EstimatorGate(Line(mask))(samples)

"""What gates share: scenes that no line judges, verdicts from residuals, confidences, plain functions."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mrac import ContractError
from mrac.gate.base import FunctionGate, Gate, unjudged, verdict, with_confidence
from mrac.gate.none import NoGate
from mrac.gate.theil_sen_mad import TheilSenMad
from mrac.space import Space
from mrac.types import GateResult, Samples

Make = Callable[..., Samples]


def same(one: GateResult, other: GateResult) -> None:
    for name in ("keep", "score", "reason", "weight"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.status == other.status


@pytest.mark.parametrize(
    ("x", "z", "status"),
    [
        (None, [1.0, 2.0, 3.0], "no_relative_depth"),
        ([1.0, 2.0], [1.0, 9.0], "too_few_anchors"),
        ([2.0, 2.0, 2.0], [1.0, 2.0, 9.0], "constant_relative_depth"),
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], "ok"),
    ],
)
def test_what_a_line_cannot_judge(x: list[float] | None, z: list[float], status: str, make_samples: Make) -> None:
    judged = TheilSenMad()(make_samples(x, z))
    assert judged.status == status
    assert judged.keep.all()
    assert set(judged.reason) == {"consistent" if status == "ok" else "unjudged"}


def test_all_are_kept_without_a_judgement(make_samples: Make) -> None:
    made = unjudged(2, "why")
    assert (made.keep.tolist(), made.score.tolist(), made.weight.tolist()) == ([True, True], [0.0, 0.0], [1.0, 1.0])
    assert (made.reason.tolist(), made.status) == (["unjudged"] * 2, "why")
    same(NoGate()(make_samples([1.0, 2.0], [1.0, 2.0])), unjudged(2, "ok"))
    same(NoGate()(make_samples([], [])), unjudged(0, "ok"))


def test_where_nothing_is_left_all_are_kept(make_samples: Make) -> None:
    samples = make_samples([1.0, 2.0], [1.0, 2.0])
    same(FunctionGate(lambda s: np.zeros(2))(samples), unjudged(2, "all_anchors_rejected"))
    one = FunctionGate(lambda s: np.array([True, False]))(samples)
    assert (one.keep.tolist(), one.status) == ([True, False], "ok")


@pytest.mark.parametrize("space", ["depth", "inverse_depth", "log_depth"])
def test_a_verdict_names_the_side_and_counts_deviations(space: Space, make_samples: Make) -> None:
    samples = make_samples([1.0] * 4, [1.0] * 4, space)
    keep = np.array([True, True, False, False])
    made = verdict(samples, keep, np.array([0.0, -1.0, 3.0, -4.0]), 2.0)
    assert made.score.tolist() == [0.0, 0.5, 1.5, 2.0]
    sides = (
        ["nearer_than_fit", "farther_than_fit"] if space == "inverse_depth" else ["farther_than_fit", "nearer_than_fit"]
    )
    assert made.reason.tolist() == ["consistent", "consistent", *sides]
    assert made.weight.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert made.status == "ok"


def test_a_score_is_finite_without_a_deviation(make_samples: Make) -> None:
    samples = make_samples([1.0] * 3, [1.0] * 3)
    keep = np.ones(3, bool)
    top = verdict(samples, keep, np.array([0.0, 1.0, 2.0]), 0.0).score
    assert top[0] == 0.0
    assert top[1] == pytest.approx(top[2] / 2)
    assert verdict(samples, keep, np.array([0.0, 1e-9, 2.0]), 1e-300).score[2] == top[2]
    np.testing.assert_array_equal(verdict(samples, keep, np.zeros(3), 0.0).score, 0.0)


def gated(weight: list[float], **more: object) -> GateResult:
    values = np.array(weight)
    keep = values >= 0.5
    return GateResult(keep, np.zeros(values.size), np.where(keep, "consistent", "rejected"), values, **more)  # type: ignore[arg-type]


def test_a_confidence_multiplies() -> None:
    made = with_confidence(gated([1.0, 0.8, 0.2, 1.0]), np.array([1.0, 0.5, 1.0, 0.4]))
    np.testing.assert_allclose(made.weight, [1.0, 0.4, 0.2, 0.4])
    assert made.outlier_probability is not None
    np.testing.assert_allclose(made.outlier_probability, [0.0, 0.6, 0.8, 0.6])
    assert made.keep.tolist() == [True, True, False, False]
    assert made.reason.tolist() == ["consistent", "consistent", "rejected", "low_confidence"]


def test_a_confidence_counts_against_the_stated_probability() -> None:
    made = with_confidence(gated([1.0, 1.0], outlier_probability=np.array([0.2, 0.0])), np.array([0.5, 1.0]))
    assert made.outlier_probability is not None
    np.testing.assert_allclose(made.outlier_probability, [0.6, 0.0])


def test_without_confidences_or_where_they_leave_nothing_a_verdict_stays() -> None:
    judged = gated([1.0, 1.0])
    assert with_confidence(judged, None) is judged
    assert with_confidence(judged, np.zeros(2)) is judged
    nothing = gated([])
    assert with_confidence(nothing, np.zeros(0)) is nothing
    one = with_confidence(gated([1.0, 1.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    assert one.keep.tolist() == [True, False, False, False]


def test_a_function_s_weights_are_verdicts(make_samples: Make) -> None:
    samples = make_samples([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    made = Gate.from_function(lambda s: np.array([0.0, 0.5, 1.0]))(samples)
    assert made.keep.tolist() == [False, True, True]
    assert made.weight.tolist() == [0.0, 0.5, 1.0]
    assert made.reason.tolist() == ["rejected", "consistent", "consistent"]
    assert made.score[0] > 100.0
    assert made.score[1:].tolist() == [0.0, 0.0]
    same(Gate.from_function(lambda s: unjudged(3, "mine"))(samples), unjudged(3, "mine"))


def test_a_function_gets_what_it_asks_for(make_samples: Make) -> None:
    got: list[object] = []

    def both(samples: Samples, relative: object, image: object) -> list[bool]:
        got.extend((relative, image))
        return [True]

    field = np.ones((2, 2))
    one = make_samples([1.0], [1.0])
    Gate.from_function(both)(one, None, field)
    assert got == [field, None] or (got[0] is field and got[1] is None)
    empty = Gate.from_function(lambda s: 1 / 0)(make_samples([], []))
    same(empty, unjudged(0, "ok"))
    assert FunctionGate(both).stage_name.endswith("both")


@pytest.mark.parametrize(
    "said",
    [None, [True], [1, 0], ["a", "b"], [[1.0], [1.0, 2.0]], [0.5, 1.1], [-0.1, 0.5], [np.nan, 1.0], [[1.0, 1.0]]],
)
def test_anything_else_is_refused(said: object, make_samples: Make) -> None:
    with pytest.raises(ContractError, match=r"^gate .*(\(2,\) is needed|from 0 to 1)"):
        FunctionGate(lambda s: said)(make_samples([1.0, 2.0], [1.0, 2.0]))


def test_the_first_and_last_weight_are_allowed(make_samples: Make) -> None:
    assert FunctionGate(lambda s: [0.0, 1.0])(make_samples([1.0, 2.0], [1.0, 2.0])).weight.tolist() == [0.0, 1.0]


def test_features_and_the_use_of_relative_depth_outlive_a_rejection(make_samples: Make) -> None:
    features = np.ones((2, 8))
    rejecting = replace(gated([0.0, 0.0]), features=features, use_relative=False)
    made = FunctionGate(lambda s: rejecting)(make_samples([1.0, 2.0], [1.0, 2.0]))
    assert made.features is features
    assert not made.use_relative
    assert made.status == "all_anchors_rejected"

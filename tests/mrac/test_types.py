import json
from collections.abc import Callable

import numpy as np
import pytest

from mrac import Anchors, Calibrator, ContractError, RelativeDepth
from mrac.result.folder import report_of
from mrac.types import DepthCurve
from tests.conftest import MadeScene


def test_anchors_are_copied_and_read_only() -> None:
    z = np.array([1.0, 2.0])
    anchors = Anchors([[0, 1], [2, 3]], z)
    z[0] = 9.0
    assert anchors.z_m[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        anchors.z_m[0] = 5.0
    assert len(anchors) == 2


@pytest.mark.parametrize(
    ("uv", "z", "says"),
    [
        ([[0, 1]], [1.0, 2.0], r"uv_px.*\(2, 2\).*\(1, 2\)"),
        ([0, 1], [1.0], r"uv_px.*\(1, 2\).*\(2,\)"),
        ([[0, 1]], [[1.0]], r"z_m.*\(K\).*\(1, 1\)"),
        ([["a", 1]], [1.0], "uv_px: numbers are needed"),
        ([[1, 2], [3]], [1.0, 2.0], "uv_px: numbers are needed"),
        ([[1, {}]], [1.0], "uv_px: numbers are needed"),
    ],
)
def test_wrong_shapes_are_named(uv: object, z: object, says: str) -> None:
    with pytest.raises(ContractError, match=says):
        Anchors(uv, z)  # type: ignore[arg-type]


def test_no_anchors_need_no_shape() -> None:
    assert Anchors([], []).uv_px.shape == (0, 2)


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((0, 4)), np.zeros((2, 2, 3)), np.array([["a"]])])
def test_relative_depth_must_be_a_field(values: object) -> None:
    with pytest.raises(ContractError, match="RelativeDepth"):
        RelativeDepth(values, "depth")  # type: ignore[arg-type]


def test_report_is_plain_json() -> None:
    image = np.zeros((8, 8, 3), np.uint8)
    out = Calibrator(foundation="none")(image, Anchors([[1.0, 1.0], [np.nan, 2.0], [5.0, 5.0]], [1.0, 2.0, 3.0]))
    report = json.loads(json.dumps(report_of(out), allow_nan=False))
    assert [a["reason"] for a in report["anchors"]] == ["unjudged", "not_finite", "unjudged"]
    assert [a["outlier_probability"] for a in report["anchors"]] == [0.0, 1.0, 0.0]
    assert report["stages"] == {
        "method": "default",
        "foundation": "none",
        "gate": "consensus_learned",
        "fit": "evidence",
        "head": "kriging",
    }


def test_the_answer_is_a_distribution() -> None:
    out = Calibrator(foundation="none", gate="none")(np.zeros((8, 9, 3), np.uint8), Anchors([[1, 1], [5, 5]], [1, 3]))
    low_m, high_m = out.interval()
    assert low_m.shape == high_m.shape == out.probability_nearer(2.0).shape == (8, 9)
    assert (low_m < out.depth_m).all()
    assert (out.depth_m < high_m).all()
    assert (out.probability_nearer(float(low_m.min())) <= 0.05 + 1e-5).all()
    assert (out.probability_nearer(float(high_m.max())) >= 0.95 - 1e-5).all()
    narrow_low_m, narrow_high_m = out.interval(0.5)
    assert (low_m < narrow_low_m).all()
    assert (narrow_high_m < high_m).all()
    with pytest.raises(ContractError, match="metres, finite and > 0"):
        out.probability_nearer(0.0)
    with pytest.raises(ContractError, match="between 0 and 1"):
        out.interval(90)


def test_doubt_is_between_right_and_wrong(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene()
    z_m = made.anchors.z_m * (1.0 + 0.02 * np.random.default_rng(0).normal(size=len(made.anchors)))
    z_m[:12] *= np.linspace(0.5, 0.95, 12)
    verdicts = Calibrator()(made.image, Anchors(made.anchors.uv_px, z_m), relative=made.relative).anchors
    assert ((verdicts.outlier_probability > 0.01) & (verdicts.outlier_probability < 0.99)).any()


def test_a_curve_is_straight_between_its_knots_and_beyond() -> None:
    curve = DepthCurve(np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 2.5]))
    np.testing.assert_allclose(curve(np.array([[-2.0, 0.5], [2.0, 5.0]])), [[-1.0, 1.5], [2.25, 3.0]])

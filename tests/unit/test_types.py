import json

import numpy as np
import pytest

from mrac import Anchors, Calibrator, ContractError, RelativeDepth


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
    report = json.loads(json.dumps(out.to_json(), allow_nan=False))
    assert [a["reason"] for a in report["anchors"]] == ["unjudged", "not_finite", "unjudged"]
    assert report["stages"] == {
        "method": "default",
        "foundation": "none",
        "gate": "theil_sen_mad",
        "fit": "ols",
        "head": "kriging",
    }

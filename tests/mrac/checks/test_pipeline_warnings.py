import numpy as np
import pytest

from mrac import Anchors, Calibrator, ContractError, RelativeDepth
from mrac.result.folder import report_of
from tests.mrac.checks.test_checks import FIELD, SHAPE, drawn, mistake

IMAGE = np.random.default_rng(0).integers(0, 255, (*SHAPE, 3), np.uint8)


def calibrated(anchors: Anchors, gate: str = "none"):  # type: ignore[no-untyped-def]
    calibrator = Calibrator(foundation="none", gate=gate, fit="ols", head="affine")
    return calibrator(IMAGE, anchors, RelativeDepth(FIELD, "log_depth"))


def test_warnings_reach_the_result_and_the_report() -> None:
    out = calibrated(mistake("swapped_uv", drawn()))
    assert [w.name for w in out.warnings] == ["swapped_uv"]
    assert report_of(out)["warnings"] == [
        {
            "name": "swapped_uv",
            "message": out.warnings[0].message,
            "advice": out.warnings[0].advice,
            "is_mistake": True,
        }
    ]
    assert calibrated(drawn()).warnings == ()


def test_an_error_carries_the_advice() -> None:
    far = Anchors(drawn().uv_px, drawn().z_m * 20_000.0)
    with pytest.raises(ContractError, match=r"none of the 50 is usable.*millimetres.*--fix units"):
        calibrated(far)


def test_the_status_says_when_most_readings_are_lost() -> None:
    anchors = drawn()
    lost = np.where(np.arange(50) < 26, np.nan, anchors.z_m)
    half = np.where(np.arange(50) < 25, np.nan, anchors.z_m)
    assert calibrated(Anchors(anchors.uv_px, lost)).status == "mostly_unusable"
    assert calibrated(Anchors(anchors.uv_px, half)).status == "ok"


def test_one_name_to_fix_may_stand_alone() -> None:
    anchors = drawn()
    calibrator = Calibrator(foundation="none", gate="none", fit="ols", head="affine")
    fixed = calibrator.fixed(IMAGE, Anchors(anchors.uv_px, anchors.z_m * 1000.0), "units=mm")
    np.testing.assert_allclose(fixed.z_m, anchors.z_m)

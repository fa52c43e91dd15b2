"""What a sensor says of its own readings: flags, confidence, areas."""

import numpy as np
import pytest

from mrac import Anchors, Calibrator, ContractError
from mrac.gate.base import unjudged, with_confidence


def image() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)


def readings(**given: object) -> Anchors:
    rng = np.random.default_rng(1)
    uv = np.stack([rng.integers(0, 64, 20), rng.integers(0, 48, 20)], axis=1)
    return Anchors(uv, np.full(20, 2.0), **given)  # type: ignore[arg-type]


def test_a_flagged_reading_is_not_used_and_keeps_its_flag() -> None:
    flag = ["occluded" if i % 4 == 0 else "" for i in range(20)]
    z = np.where(np.arange(20) % 4 == 0, 9.0, 2.0)
    given = readings()
    out = Calibrator(foundation="none")(image(), Anchors(given.uv_px, z, flag=flag))
    assert (out.anchors.reason[::4] == "occluded").all()
    assert not out.anchors.keep[::4].any()
    assert np.abs(out.depth_m - 2.0).max() < 0.1


def test_a_long_flag_is_not_cut() -> None:
    flag = ["sensor_status_of_a_very_wordy_sensor"] + [""] * 19
    out = Calibrator(foundation="none")(image(), readings(flag=flag))
    assert out.anchors.reason[0] == flag[0][:32]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"confidence": [1.5] + [1.0] * 19}, "bad_confidence"),
        ({"extent_px": [[-1.0, 3.0]] + [[2.0, 2.0]] * 19}, "bad_extent"),
        ({"sigma_m": [np.nan] + [0.1] * 19}, "bad_sigma"),
    ],
)
def test_impossible_statements_make_a_reading_unusable(given: dict[str, object], reason: str) -> None:
    out = Calibrator(foundation="none")(image(), readings(**given))
    assert out.anchors.reason[0] == reason
    assert not out.anchors.keep[0]


def test_flags_are_words() -> None:
    with pytest.raises(ContractError, match=r"Anchors\.flag: \(20,\) words are needed"):
        readings(flag=[1] * 20)


def test_confidence_multiplies_the_probability_of_being_right() -> None:
    confidence = np.array([1.0, 0.5, 0.3, 1.0])
    out = with_confidence(unjudged(4, "ok"), confidence)
    np.testing.assert_allclose(out.weight, confidence)
    assert out.outlier_probability is not None
    np.testing.assert_allclose(out.outlier_probability, 1.0 - confidence)
    assert out.keep.tolist() == [True, True, False, True]
    assert out.reason.tolist() == ["unjudged", "unjudged", "low_confidence", "unjudged"]


def test_a_sensor_that_doubts_everything_leaves_the_gate_s_verdict() -> None:
    gated = unjudged(3, "ok")
    assert with_confidence(gated, np.full(3, 0.1)) is gated
    assert with_confidence(gated, None) is gated


def test_a_doubtful_wrong_reading_counts_less() -> None:
    given = readings()
    z = np.where(np.arange(20) == 3, 2.6, 2.0)
    sure = Calibrator(foundation="none", gate="none")(image(), Anchors(given.uv_px, z))
    doubted = Anchors(given.uv_px, z, confidence=np.where(np.arange(20) == 3, 0.05, 1.0))
    unsure = Calibrator(foundation="none", gate="none")(image(), doubted)
    assert np.abs(unsure.depth_m - 2.0).mean() < 0.8 * np.abs(sure.depth_m - 2.0).mean()

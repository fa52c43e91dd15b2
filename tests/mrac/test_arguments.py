"""A wrong type, anywhere on the public surface, is one error that shows the right call."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mrac
from mrac import Anchors, Calibrator, ContractError, MetricDepth

IMAGE = np.random.default_rng(0).integers(0, 255, (20, 30, 3), dtype=np.uint8)
UV, Z = np.random.default_rng(1).uniform(2, 18, (9, 2)), np.linspace(1.0, 2.0, 9)
CAMERA = mrac.Camera(fx_px=30.0, fy_px=30.0, cx_px=15.0, cy_px=10.0, width=30, height=20)
CALIBRATOR = Calibrator(foundation="none")
NO_NUMBERS = [None, "0.5", [0.5], [], np.ones(3), 1j, True, 10**400, object()]


@cache
def result() -> MetricDepth:
    return CALIBRATOR(IMAGE, Anchors(UV, Z))


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda v: f"{v!r:.12}")
@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda v: result().interval(v), r"interval\(0\.9\)"),
        (lambda v: result().probability_nearer(v), r"probability_nearer\(2\.0\)"),
        (lambda v: mrac.theil_sen_gate([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], kappa=v), r"kappa=2\.0"),
    ],
    ids=["interval", "probability_nearer", "kappa"],
)
def test_what_is_no_number_is_refused(call: Callable[[Any], Any], right: str, value: Any) -> None:
    with pytest.raises(ContractError, match=right):
        call(value)


@pytest.mark.parametrize("value", [np.float32(0.5), np.array(0.5), np.int64(1) / 2])
def test_numpy_s_numbers_are_numbers(value: Any) -> None:
    for found, wanted in zip(result().interval(value), result().interval(0.5), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("value", [None, 5, b"a.png", ["a.png"], object()], ids=lambda v: f"{v!r:.12}")
@pytest.mark.parametrize(
    ("call", "right"),
    [
        (mrac.read_image, r'read_image\("'),
        (mrac.read_anchors, r'read_anchors\("'),
        (mrac.read_camera, r'read_camera\("'),
        (mrac.read_pose, r'read_pose\("'),
        (lambda v: result().save(v), r'save\("'),
    ],
    ids=["read_image", "read_anchors", "read_camera", "read_pose", "save"],
)
def test_what_is_no_path_is_refused(call: Callable[[Any], Any], right: str, value: Any) -> None:
    with pytest.raises(ContractError, match=right):
        call(value)


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda: CALIBRATOR(IMAGE, (UV, Z)), r"Anchors\(\*anchors\)"),  # type: ignore[arg-type]
        (lambda: CALIBRATOR(IMAGE, Anchors(UV, Z), np.ones((20, 30))), r"RelativeDepth\(values"),  # type: ignore[arg-type]
        (lambda: CALIBRATOR(IMAGE, Anchors(UV, Z), camera=5), r"read_camera"),  # type: ignore[arg-type]
        (lambda: result().points(5), r"read_camera"),  # type: ignore[arg-type]
        (lambda: result().save("a.ply", camera=np.eye(3)), r"read_camera"),  # type: ignore[arg-type]
        (lambda: CALIBRATOR.fixed(IMAGE, Anchors(UV, Z), 5), r'fixed\(.*\["units"\]\)'),  # type: ignore[arg-type]
        (lambda: Calibrator(gate=5), r'gate="'),  # type: ignore[arg-type]
        (lambda: Calibrator(cache=5), r'cache="'),  # type: ignore[arg-type]
        (lambda: result().points(CAMERA, stride="a"), r"stride"),  # type: ignore[arg-type]
        (lambda: result().points(CAMERA, max_sigma="a"), r"max_sigma"),  # type: ignore[arg-type]
    ],
)
def test_what_is_of_a_wrong_type_is_refused_with_the_right_call(call: Callable[[], Any], right: str) -> None:
    with pytest.raises(ContractError, match=right):
        call()


def test_masks_of_plain_gates_are_looked_at() -> None:
    """float64 arrays go to the compiled gate uncopied; a masked one is not such an array."""
    z = np.ma.masked_array([1.0, 2.0, 900.0], [False, False, True])
    with pytest.raises(ContractError, match="not finite"):
        mrac.theil_sen_gate([1.0, 2.0, 3.0], z)


def test_a_path_may_be_of_any_kind(tmp_path: Path) -> None:
    assert result().save(tmp_path / "a.npz") == result().save(str(tmp_path / "a.npz"))

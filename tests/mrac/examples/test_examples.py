"""The shipped example frames: complete, consistent, small, and such that the default does well on them."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from mrac import Calibrator, ContractError, MissingExtra, examples
from mrac.examples.shipped import FRAMES, load_shipped, write_shipped
from mrac.metrics import depth_metrics

SHIPPED = ("room", "street")


def test_names_are_what_load_takes() -> None:
    assert examples.names() == (*SHIPPED, "motorcycle")
    assert [examples.load(name).name for name in examples.names()] == list(examples.names())


@pytest.mark.parametrize("name", examples.names())
def test_a_frame_is_complete(name: str) -> None:
    frame = examples.load(name)
    H, W = frame.depth_m.shape
    assert frame.image.shape == (H, W, 3)
    assert frame.image.dtype == np.uint8
    assert (frame.camera.width, frame.camera.height) == (W, H)
    assert frame.wrong.shape == (len(frame.anchors),)
    assert frame.title
    assert frame.fault
    assert frame.licence
    with pytest.raises(dataclasses.FrozenInstanceError):
        frame.title = ""  # type: ignore[misc]


@pytest.mark.parametrize("name", examples.names())
def test_the_readings_that_are_not_wrong_are_the_true_depth(name: str) -> None:
    frame = examples.load(name)
    u, v = frame.anchors.uv_px.astype(int).T
    error = np.abs(frame.anchors.z_m / frame.depth_m[v, u] - 1.0)
    assert error[~frame.wrong].max() < 0.002  # of rounding: millimetres, and steps of 1/256 m in the street
    assert error[frame.wrong].min() > 0.005
    assert 0.2 < frame.wrong.mean() < 0.3


@pytest.mark.parametrize(("name", "limit"), [("room", 0.04), ("street", 0.05)])
def test_the_default_does_well_where_least_squares_does_not(name: str, limit: float) -> None:
    frame = examples.load(name)
    valid = np.isfinite(frame.depth_m) & (np.nan_to_num(frame.depth_m) <= 80.0)
    ours = Calibrator()(frame.image, frame.anchors, camera=frame.camera)
    plain = Calibrator("cfa_ols")(frame.image, frame.anchors)
    assert ours.status == "ok"
    assert not ours.warnings
    assert depth_metrics(ours.depth_m, frame.depth_m, valid).abs_rel < limit
    assert depth_metrics(plain.depth_m, frame.depth_m, valid).abs_rel > 3 * limit
    assert (~ours.anchors.keep & frame.wrong).sum() >= 0.9 * frame.wrong.sum()


def test_the_files_are_small_and_no_others_lie_beside_them() -> None:
    files = sorted(FRAMES.iterdir())
    assert [file.name for file in files] == [f"{name}.{end}" for name in SHIPPED for end in ("jpg", "json", "png")]
    assert sum(file.stat().st_size for file in files) < 600_000


def test_a_frame_that_is_written_again_is_the_same(tmp_path: Path) -> None:
    frame = examples.load("street")
    write_shipped(frame, tmp_path, 256.0)
    again = load_shipped("street", tmp_path)
    np.testing.assert_array_equal(again.depth_m, frame.depth_m)
    np.testing.assert_array_equal(again.anchors.z_m, frame.anchors.z_m)
    np.testing.assert_array_equal(again.wrong, frame.wrong)
    assert (tmp_path / "street.json").read_bytes() == (FRAMES / "street.json").read_bytes()


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ContractError, match="no example 'car'; one of room, street, motorcycle is needed"):
        examples.load("car")


def test_the_photograph_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skimage.data", None)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[demo\]"):
        examples.load("motorcycle")

"""Results on disk as frames for the viewer: what is there is shown, what is not is left out with a word."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac import Anchors, Calibrator, ContractError, MetricDepth, examples
from mrac.anchors.csv import write
from mrac.examples import Example
from mrac.view.open import frames_of
from tests.e2e.test_cli import mrac_here


@pytest.fixture(scope="module")
def frame() -> Example:
    """The shipped room at an eighth of its size."""
    room = examples.load("room")
    image, depth_m = room.image[3::8, 3::8], room.depth_m[3::8, 3::8]
    H, W = depth_m.shape
    anchors = Anchors((room.anchors.uv_px // 8), room.anchors.z_m)
    return Example(**{**vars(room), "image": image, "depth_m": depth_m, "anchors": anchors,
                      "camera": room.camera.resized(W, H)})  # fmt: skip


@pytest.fixture(scope="module")
def result(frame: Example) -> MetricDepth:
    return Calibrator("cfa_ols", gate="theil_sen_mad")(frame.image, frame.anchors)


@pytest.fixture
def calibrated(frame: Example, tmp_path: Path) -> Path:
    """What `mrac calibrate` leaves, with its inputs beside it."""
    Image.fromarray(frame.image).save(tmp_path / "a.png")
    write(tmp_path / "a.csv", frame.anchors)
    (tmp_path / "cam.json").write_text(json.dumps(asdict(frame.camera)), encoding="utf-8")
    words: list[str | Path] = [
        "calibrate",
        tmp_path / "a.png",
        "--anchors",
        tmp_path / "a.csv",
        "--camera",
        tmp_path / "cam.json",
    ]
    done = mrac_here(*words, "--method", "cfa_ols", "--gate", "theil_sen_mad", "--out", tmp_path / "out", "-q")
    assert done.returncode == 0, done.stderr
    return tmp_path / "out"


def test_a_folder_of_calibrate_has_everything(calibrated: Path, frame: Example, result: MetricDepth) -> None:
    (shown,) = frames_of(calibrated)
    assert shown.notes == ()
    np.testing.assert_array_equal(shown.depth_m, result.depth_m)
    np.testing.assert_array_equal(shown.image, frame.image)
    assert shown.sigma_m is not None
    assert shown.camera == frame.camera
    assert shown.readings is not None
    np.testing.assert_array_equal(shown.readings.keep, result.anchors.keep)
    np.testing.assert_array_equal(shown.readings.reason, result.anchors.reason)
    np.testing.assert_allclose(shown.readings.uv_px, frame.anchors.uv_px)
    np.testing.assert_allclose(shown.readings.z_m, frame.anchors.z_m, atol=1e-5)
    assert "status: ok" in shown.summary


def test_what_has_moved_is_left_out_with_a_word(calibrated: Path, frame: Example, tmp_path: Path) -> None:
    (tmp_path / "a.png").rename(tmp_path / "b.png")
    (tmp_path / "cam.json").rename(tmp_path / "cam2.json")
    (shown,) = frames_of(calibrated)
    assert shown.image is None
    assert shown.camera is None
    assert any(note.startswith("image: ") and "--image FILE shows it" in note for note in shown.notes)
    assert any(note.startswith("camera: ") and "--camera FILE shows it" in note for note in shown.notes)
    (again,) = frames_of(calibrated, image=tmp_path / "b.png", camera=tmp_path / "cam2.json")
    np.testing.assert_array_equal(again.image, frame.image)
    assert again.camera == frame.camera
    assert again.notes == ()


def test_an_npz_asks_for_the_rest(result: MetricDepth, frame: Example, tmp_path: Path) -> None:
    result.save(tmp_path / "a.npz")
    (shown,) = frames_of(tmp_path / "a.npz")
    np.testing.assert_array_equal(shown.depth_m, result.depth_m)
    assert [note.partition(":")[0] for note in shown.notes] == ["readings", "image", "camera"]
    write(tmp_path / "a.csv", frame.anchors)
    (again,) = frames_of(tmp_path / "a.npz", anchors=tmp_path / "a.csv")
    assert again.readings is not None
    np.testing.assert_allclose(again.readings.uv_px, frame.anchors.uv_px)
    assert [note.partition(":")[0] for note in again.notes] == ["image", "camera"]
    write(tmp_path / "b.csv", frame.anchors.take(np.arange(5)))
    with pytest.raises(ContractError, match="5 readings for 60 verdicts"):
        list(frames_of(tmp_path / "a.npz", anchors=tmp_path / "b.csv"))


def test_a_folder_of_many_is_in_the_order_of_names(result: MetricDepth, frame: Example, tmp_path: Path) -> None:
    for name in ("b", "a"):
        result.save(tmp_path / "many" / name, image=frame.image, anchors=frame.anchors)
    result.save(tmp_path / "many" / "c.npz")
    (tmp_path / "many" / "notes.txt").touch()
    assert [one.name for one in frames_of(tmp_path / "many")] == ["a", "b", "c"]
    (tmp_path / "photos").mkdir()
    for name in "abc":
        Image.fromarray(frame.image).save(tmp_path / "photos" / f"{name}.png")
    assert all(one.image is not None for one in frames_of(tmp_path / "many", image=tmp_path / "photos"))
    with pytest.raises(ContractError, match="3 results; a folder with an image for each"):
        frames_of(tmp_path / "many", image=tmp_path / "photos" / "a.png")
    with pytest.raises(ContractError, match="--anchors is for one result"):
        frames_of(tmp_path / "many", anchors=tmp_path / "a.csv")
    (tmp_path / "photos" / "b.png").unlink()
    with pytest.raises(ContractError, match="1 of 3 frames have no file of their stem: b"):
        frames_of(tmp_path / "many", image=tmp_path / "photos")


def test_an_image_of_another_size_is_left_out(calibrated: Path, tmp_path: Path) -> None:
    Image.new("RGB", (10, 20)).save(tmp_path / "other.png")
    (shown,) = frames_of(calibrated, image=tmp_path / "other.png")
    assert any("a 10×20 picture, the depth is 80×60: left out" in note for note in shown.notes)


@pytest.mark.parametrize("report", ["[]", "{", '{"anchors": [{"u": 1}], "inputs": 3, "warnings": [1]}'])
def test_a_broken_report_is_told(report: str, result: MetricDepth, tmp_path: Path) -> None:
    result.save(tmp_path / "out")
    (tmp_path / "out" / "report.json").write_text(report, encoding="utf-8")
    if report.startswith('{"'):  # of another make: what can be shown is
        (shown,) = frames_of(tmp_path / "out")
        assert shown.readings is None
    else:
        with pytest.raises(ContractError, match=r"report\.json(: not readable as JSON|: cannot be read| holds a list)"):
            list(frames_of(tmp_path / "out"))


def test_a_path_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no result in it; a folder of `mrac calibrate`"):
        frames_of(tmp_path)
    with pytest.raises(ContractError, match="no such file or folder"):
        frames_of(tmp_path / "none")
    (tmp_path / "a.txt").touch()
    with pytest.raises(ContractError, match=r"ends in '\.txt'; an \.npz or a folder of results is needed"):
        list(frames_of(tmp_path / "a.txt"))
    np.savez(tmp_path / "a.npz", depth_m=np.ones(3))
    with pytest.raises(ContractError, match=r"depth_m \(3,\); two maps"):
        list(frames_of(tmp_path / "a.npz"))

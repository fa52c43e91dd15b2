"""CameraInfo of ROS: the file of camera_info_manager and printed messages."""

import builtins
import json
from pathlib import Path
from typing import Any

import pytest

from mrac.camera import Camera, read_camera
from mrac.errors import ContractError, MissingExtra

STORED = """\
image_width: 640
image_height: 480
camera_name: narrow_stereo
camera_matrix:
  rows: 3
  cols: 3
  data: [500.3, 0, 320.2, 0, 498.1, 239.7, 0, 0, 1]
distortion_model: {model}
distortion_coefficients:
  rows: 1
  cols: {num}
  data: {values}
rectification_matrix: {{rows: 3, cols: 3, data: [1, 0, 0, 0, 1, 0, 0, 0, 1]}}
projection_matrix: {{rows: 3, cols: 4, data: [450, 0, 320, 0, 0, 450, 240, 0, 0, 0, 1, 0]}}
"""
PRINTED = """\
header:
  stamp: {{sec: 1, nanosec: 2}}
  frame_id: camera
height: 480
width: 640
distortion_model: plumb_bob
{d}: [-0.28, 0.07, 0.0012, -0.0003, 0.0]
{k}:
- 500.3
- 0.0
- 320.2
- 0.0
- 498.1
- 239.7
- 0.0
- 0.0
- 1.0
binning_x: {binning}
binning_y: {binning}
roi: {roi}
---
"""
NO_ROI = "{x_offset: 0, y_offset: 0, height: 0, width: 0, do_rectify: false}"


@pytest.fixture(autouse=True)
def _yaml() -> None:
    pytest.importorskip("yaml")


def stored(folder: Path, model: str, values: list[float]) -> Path:
    path = folder / "camera.yaml"
    path.write_text(STORED.format(model=model, values=values, num=len(values)))
    return path


def printed(folder: Path, letters: str = "kd", binning: int = 0, roi: str = NO_ROI) -> Path:
    path = folder / "info.yml"
    path.write_text(PRINTED.format(k=letters[0], d=letters[1], binning=binning, roi=roi))
    return path


@pytest.mark.parametrize(
    ("name", "values", "model", "kept"),
    [
        ("plumb_bob", [-0.28, 0.07, 0.0012, -0.0003, 0.01], "radtan", 5),
        ("plumb_bob", [-0.28, 0.07, 0.0012, -0.0003], "radtan", 4),
        ("plumb_bob", [0, 0, 0, 0, 0], "pinhole", 0),
        ("rational_polynomial", [0.5, -0.2, 0.001, -0.0005, 0.03, 0.8, -0.1, 0.05], "rational", 8),
        ("rational_polynomial", [0.5, -0.2, 0.001, -0.0005, 0.03, 0.8, -0.1, 0.05, 0, 0, 0, 0], "rational", 8),
        ("equidistant", [-0.01, 0.02, -0.005, 0.001], "fisheye", 4),
    ],
)
def test_a_stored_camera(tmp_path: Path, name: str, values: list[float], model: str, kept: int) -> None:
    found = read_camera(stored(tmp_path, name, values))
    assert found == Camera(500.3, 498.1, 320.2, 239.7, 640, 480, model, tuple(values[:kept]))


@pytest.mark.parametrize("letters", ["kd", "KD"])
def test_a_printed_message_of_either_ros(tmp_path: Path, letters: str) -> None:
    found = read_camera(printed(tmp_path, letters))
    assert found == Camera(500.3, 498.1, 320.2, 239.7, 640, 480, "radtan", (-0.28, 0.07, 0.0012, -0.0003, 0.0))


def test_a_message_as_json(tmp_path: Path) -> None:
    path = tmp_path / "info.json"
    message = {"width": 640, "height": 480, "distortion_model": "equidistant", "d": [-0.01, 0.02, -0.005, 0.001]}
    path.write_text(json.dumps(message | {"k": [500.3, 0, 320.2, 0, 498.1, 239.7, 0, 0, 1]}))
    assert read_camera(path) == Camera(500.3, 498.1, 320.2, 239.7, 640, 480, "fisheye", (-0.01, 0.02, -0.005, 0.001))


def test_a_part_of_the_sensor_that_is_binned(tmp_path: Path) -> None:
    found = read_camera(printed(tmp_path, binning=2, roi="{x_offset: 100, y_offset: 80, width: 400, height: 200}"))
    assert (found.width, found.height, found.fx_px) == (200, 100, 250.15)
    assert (found.cx_px, found.cy_px) == pytest.approx(((320.2 - 100 + 0.5) / 2 - 0.5, (239.7 - 80 + 0.5) / 2 - 0.5))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("cahvor", [0.1, 0, 0, 0], "distortion_model 'cahvor' arrived, one of plumb_bob, rational_polynomial"),
        ("plumb_bob", [0.1, 0, 0, 0, 0, 0.3], "6 distortion coefficients arrived, plumb_bob has 5"),
        ("equidistant", [0.1, 0.2], "fisheye needs 4 finite numbers"),
        ("plumb_bob", ["x"], r"coefficients are needed as numbers, \['x'\] arrived"),
    ],
)
def test_a_distortion_that_is_not_known(tmp_path: Path, name: str, values: list[Any], message: str) -> None:
    with pytest.raises(ContractError, match=f"camera.yaml: .*{message}"):
        read_camera(stored(tmp_path, name, values))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\n", "a CameraInfo is needed, with camera_matrix, k or K; its keys are a, b"),
        ("- 1\n- 2\n", "a CameraInfo is needed, list arrived"),
        ("a: [1\nb: 2", "not readable as YAML"),
        ("width: 4\nheight: 4\nk: [1, 2]\n", r"'k' holds \[1, 2\]; nine numbers"),
        ("width: 4\nheight: 4\nk: [0, 0, 0, 0, 0, 0, 0, 0, 0]\n", "a camera matrix fx 0 cx, 0 fy cy, 0 0 1 is needed"),
        (
            "width: 4\nheight: 4\nk: [0, 0, 0, 0, 0, 0, 0, 0, 1]\n",
            "the focal length is 0, as of a camera not calibrated",
        ),
        ("k: [5, 0, 2, 0, 5, 2, 0, 0, 1]\n", "does not state the image's size"),
        ("width: 0\nheight: 4\nk: [5, 0, 2, 0, 5, 2, 0, 0, 1]\n", r"size of \[0, 4\] is stated"),
    ],
)
def test_what_is_no_camera_info(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(ContractError, match=f"broken.yaml: .*{message}"):
        read_camera(path)


def test_without_pyyaml_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "yaml":
            raise ImportError(name)
        return usual(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[sensors\]"):
        read_camera(printed(tmp_path))

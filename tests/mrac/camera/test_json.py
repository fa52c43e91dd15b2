"""Cameras in JSON: nuScenes, ARKit, NeRF and plain numbers."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac.camera import Camera, read_camera
from mrac.errors import ContractError

ROWS = [[1266.4, 0.0, 816.3], [0.0, 1266.4, 491.5], [0.0, 0.0, 1.0]]
PLAIN = {"fx": 500.3, "fy": 498.1, "cx": 320.2, "cy": 239.7, "width": 640, "height": 480}
NERF = {"fl_x": 500.3, "fl_y": 498.1, "cx": 320.5, "cy": 240.0, "w": 640, "h": 480, "frames": []}


def write(folder: Path, content: object) -> Path:
    path = folder / "camera.json"
    path.write_text(json.dumps(content))
    return path


def test_nuscenes_record_needs_the_size(tmp_path: Path) -> None:
    path = write(tmp_path, {"token": "a", "camera_intrinsic": ROWS, "rotation": [1, 0, 0, 0], "translation": [0, 0, 0]})
    assert read_camera(path, size=(1600, 900)) == Camera(1266.4, 1266.4, 816.3, 491.5, 1600, 900)
    with pytest.raises(ContractError, match=r"camera.json: it does not state the image's size; give it"):
        read_camera(path)


def test_nuscenes_table_is_chosen_from_by_token(tmp_path: Path) -> None:
    lidar: dict[str, Any] = {"token": "lidar", "camera_intrinsic": []}
    table = [lidar, {"token": "front", "camera_intrinsic": ROWS}]
    assert read_camera(write(tmp_path, table), size=(1600, 900)).cx_px == 816.3, "the only one with intrinsics"
    table.append({"token": "back", "camera_intrinsic": (np.array(ROWS) * [[0.5], [0.5], [1]]).tolist()})
    path = write(tmp_path, table)
    assert read_camera(path, "back", size=(1600, 900)).fx_px == 633.2
    with pytest.raises(ContractError, match=r"2 of 3 records have 'camera_intrinsic', one is needed; give its token"):
        read_camera(path, size=(1600, 900))
    with pytest.raises(ContractError, match=r"0 of 3 records with token 'lidar'"):
        read_camera(path, "lidar", size=(1600, 900))


@pytest.mark.parametrize(
    "intrinsics",
    [
        [1450.0, 0.0, 0.0, 0.0, 1448.0, 0.0, 960.5, 720.0, 1.0],
        [[1450.0, 0.0, 0.0], [0.0, 1448.0, 0.0], [960.5, 720.0, 1.0]],
        [1450.0, 0.0, 960.5, 0.0, 1448.0, 720.0, 0.0, 0.0, 1.0],
    ],
    ids=["by column", "columns", "by row"],
)
def test_arkit_counts_from_the_corner(tmp_path: Path, intrinsics: list[Any]) -> None:
    path = write(tmp_path, {"intrinsics": intrinsics, "imageResolution": [1920, 1440], "transform": []})
    assert read_camera(path) == Camera(1450, 1448, 960.0, 719.5, 1920, 1440)


def test_arkit_size_as_an_object(tmp_path: Path) -> None:
    content = {
        "intrinsics": [1450.0, 0, 0, 0, 1448, 0, 960.5, 720, 1],
        "imageResolution": {"width": 1920, "height": 1440},
    }
    assert read_camera(write(tmp_path, content)).width == 1920


@pytest.mark.parametrize(
    ("more", "model", "distortion"),
    [
        ({}, "pinhole", ()),
        ({"k1": -0.1, "k2": 0.02, "p1": 0.001, "p2": -0.002}, "radtan", (-0.1, 0.02, 0.001, -0.002, 0.0)),
        (
            {"camera_model": "OPENCV_FISHEYE", "k1": -0.1, "k2": 0.02, "k3": 0.3, "k4": 0.4},
            "fisheye",
            (-0.1, 0.02, 0.3, 0.4),
        ),
    ],
)
def test_nerf_has_pixel_centres_at_a_half(
    tmp_path: Path, more: dict[str, Any], model: str, distortion: tuple[float, ...]
) -> None:
    found = read_camera(write(tmp_path, NERF | more))
    assert found == Camera(500.3, 498.1, 320.0, 239.5, 640, 480, model, distortion)


def test_nerf_with_a_field_of_view_alone(tmp_path: Path) -> None:
    path = write(tmp_path, {"camera_angle_x": math.pi / 2, "frames": []})
    found = read_camera(path, size=(640, 480))
    assert (found.fx_px, found.fy_px) == pytest.approx((320, 320))
    assert (found.cx_px, found.cy_px) == (319.5, 239.5)


def test_nerf_frames_with_cameras_of_their_own(tmp_path: Path) -> None:
    frames = [{"file_path": f"images/{i}.jpg", "fl_x": 500.0 + i, "cx": 4, "cy": 4, "w": 8, "h": 8} for i in range(2)]
    path = write(tmp_path, {"camera_model": "OPENCV", "frames": frames})
    for name in ("images/1.jpg", "1.jpg", "1"):
        assert read_camera(path, name).fx_px == 501
    with pytest.raises(
        ContractError, match=r"fl_x is needed as a finite number, None arrived; the frames differ, name one"
    ):
        read_camera(path, size=(8, 8))
    with pytest.raises(ContractError, match=r"0 frames are named '2', one is needed; frames: images/0.jpg"):
        read_camera(path, "2")


@pytest.mark.parametrize(
    ("distortion", "model"),
    [
        (None, "pinhole"),
        ([0.1, 0.2, 0.3, 0.4], "radtan"),
        ([0.1, 0.2, 0.3, 0.4, 0.5], "radtan"),
        ([0.1] * 8, "rational"),
    ],
)
def test_plain_numbers(tmp_path: Path, distortion: list[float] | None, model: str) -> None:
    found = read_camera(write(tmp_path, PLAIN | {"distortion": distortion}))
    assert found == Camera(500.3, 498.1, 320.2, 239.7, 640, 480, model, tuple(distortion or ()))


@pytest.mark.parametrize("model", ["radtan", "fisheye"])
def test_a_camera_of_this_package_is_read_back(tmp_path: Path, model: str) -> None:
    wanted = Camera(500.3, 498.1, 320.2, 239.7, 640, 480, model, (-0.1, 0.02, 0.003, 0.0004))
    assert read_camera(write(tmp_path, dataclasses.asdict(wanted))) == wanted


def test_open3d_stores_by_column(tmp_path: Path) -> None:
    content = {"width": 640, "height": 480, "intrinsic_matrix": [525.0, 0, 0, 0, 524.0, 0, 319.5, 239.5, 1]}
    assert read_camera(write(tmp_path, content)) == Camera(525, 524, 319.5, 239.5, 640, 480)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"a": 1}, r"no camera inside: fx, fy, cx, cy, or .* is needed; its keys are a"),
        ([1, 2], r"a JSON object is needed, list arrived"),
        (PLAIN | {"fx": "wide"}, r"numbers are needed for fx, fy, cx, cy"),
        (PLAIN | {"fx": -3}, r"Camera.fx_px: -3.0 arrived"),
        (PLAIN | {"distortion": [1, 2]}, r"2 distortion coefficients arrived; 4, 5 or 8 are needed"),
        (PLAIN | {"distortion": "none"}, r"needed as numbers, 'none' arrived"),
        (PLAIN | {"width": "wide"}, r"an image size of \['wide', 480\] is stated"),
        ({"camera_intrinsic": [[1, 2], [3, 4]]}, r"'camera_intrinsic' holds .* nine numbers"),
        (
            {"camera_matrix": [[5, 1, 2], [0, 5, 2], [0, 0, 1]], "w": 4, "h": 4},
            r"a camera matrix without skew is needed",
        ),
        ({"intrinsics": [1, 2]}, r"'intrinsics' holds \[1, 2\]; nine numbers.* as ARKit has them"),
        (NERF | {"k4": 0.1}, r"k4 = 0.1 arrived"),
        (NERF | {"k1": "x"}, r"k1 is needed as a finite number, 'x' arrived"),
    ],
)
def test_what_is_no_camera(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(ContractError, match=f"camera.json: .*{message}"):
        read_camera(write(tmp_path, content), size=(640, 480))

"""Cameras of COLMAP, text and binary."""

import struct
from pathlib import Path

import numpy as np
import pytest

from mrac.camera import Camera, read_camera
from mrac.camera.colmap import read_cameras
from mrac.errors import ContractError

K = (-0.28, 0.07, 0.0012, -0.0003)
MODELS = {
    "SIMPLE_PINHOLE": (0, (500, 320.5, 240), ("pinhole", ())),
    "PINHOLE": (1, (500, 490, 320.5, 240), ("pinhole", ())),
    "SIMPLE_RADIAL": (2, (500, 320.5, 240, -0.1), ("radtan", (-0.1, 0, 0, 0))),
    "RADIAL": (3, (500, 320.5, 240, -0.1, 0.02), ("radtan", (-0.1, 0.02, 0, 0))),
    "OPENCV": (4, (500, 490, 320.5, 240, *K), ("radtan", K)),
    "OPENCV_FISHEYE": (5, (500, 490, 320.5, 240, *K), ("fisheye", K)),
    "FULL_OPENCV": (6, (500, 490, 320.5, 240, *K, 0.01, 0.2, 0.03, 0.04), ("rational", (*K, 0.01, 0.2, 0.03, 0.04))),
    "SIMPLE_RADIAL_FISHEYE": (8, (500, 320.5, 240, -0.1), ("fisheye", (-0.1, 0, 0, 0))),
    "RADIAL_FISHEYE": (9, (500, 320.5, 240, -0.1, 0.02), ("fisheye", (-0.1, 0.02, 0, 0))),
}


def binary(*cameras: tuple[int, str]) -> bytes:
    parts = [struct.pack("<Q", len(cameras))]
    for key, name in cameras:
        number, parameters, _ = MODELS[name]
        parts += [struct.pack("<IiQQ", key, number, 640, 480), struct.pack(f"<{len(parameters)}d", *parameters)]
    return b"".join(parts)


def text(*cameras: tuple[int, str]) -> str:
    lines = ["# Camera list with one line of data per camera:", "#   CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]"]
    lines += [f"{key} {name} 640 480 {' '.join(map(repr, MODELS[name][1]))}" for key, name in cameras]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", MODELS)
def test_text_and_binary_give_the_camera_with_pixel_centres_at_integers(tmp_path: Path, name: str) -> None:
    _, (fx, *rest), (model, distortion) = MODELS[name]
    fy = rest[0] if name in ("PINHOLE", "OPENCV", "OPENCV_FISHEYE", "FULL_OPENCV") else fx
    wanted = Camera(fx, fy, 320.0, 239.5, 640, 480, model, distortion)
    (tmp_path / "cameras.txt").write_text(text((7, name)))
    assert read_camera(tmp_path / "cameras.txt") == wanted
    (tmp_path / "cameras.bin").write_bytes(binary((7, name)))
    assert read_camera(tmp_path / "cameras.bin") == wanted
    assert read_camera(tmp_path) == wanted, "the model's folder"


@pytest.mark.parametrize("name", MODELS)
def test_the_projection_is_pycolmaps(tmp_path: Path, name: str) -> None:
    pycolmap = pytest.importorskip("pycolmap")
    theirs = pycolmap.Camera(model=name, width=640, height=480, params=MODELS[name][1])
    (tmp_path / "cameras.bin").write_bytes(binary((1, name)))
    points = np.array([[0.3, -0.2, 1.0], [-1.1, 0.7, 2.0], [0.05, 0.4, 0.8]])
    wanted = np.array([theirs.img_from_cam(point) for point in points])
    np.testing.assert_allclose(read_camera(tmp_path).project(points), wanted.reshape(-1, 2) - 0.5, rtol=0, atol=1e-8)


def test_several_cameras_are_told_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "cameras.bin"
    path.write_bytes(binary((1, "PINHOLE"), (4, "OPENCV")))
    assert {key: camera.model for key, camera in read_cameras(path).items()} == {1: "pinhole", 4: "radtan"}
    assert read_camera(path, 4).model == "radtan"
    with pytest.raises(ContractError, match="2 cameras inside, numbers 1, 4; name one: camera=NUMBER"):
        read_camera(path)
    with pytest.raises(ContractError, match="camera '2' is asked for, the numbers inside are 1, 4"):
        read_camera(path, 2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 FOV 640 480 1 1 1 1 1", "line 1: camera model FOV arrived, one of SIMPLE_PINHOLE, .* undistort the images"),
        ("1 PINHOLE 640 480 1 1 1", "line 1: PINHOLE has 4 parameters, 3 arrived"),
        ("1 PINHOLE 640 480 0 1 1 1", "line 1: Camera.fx_px: 0.0 arrived"),
        ("1 PINHOLE 640 480 1 1 1 1\n2 PINHOLE 640", "line 2: `id MODEL width height parameters` is needed"),
    ],
)
def test_a_broken_text_names_the_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "cameras.txt"
    path.write_text(line + "\n")
    with pytest.raises(ContractError, match=f"cameras.txt, {message}"):
        read_camera(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (binary((1, "OPENCV"))[:-4], "end within a camera"),
        (b"", "0 bytes end within a camera"),
        (binary((1, "OPENCV")) + b"1234", "its 1 cameras take 96"),
        (struct.pack("<QIiQQ", 1, 1, 77, 4, 4), "camera model number 77 arrived"),
        (struct.pack("<Q", 0), "no camera inside"),
    ],
)
def test_a_broken_binary_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "cameras.bin"
    path.write_bytes(content)
    with pytest.raises(ContractError, match=f"cameras.bin: .*{message}"):
        read_camera(path)

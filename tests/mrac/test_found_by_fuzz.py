"""What generated cases broke, `python -m mrac.lab.studies.fuzz`, each kept in its smallest form."""

import io
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mrac import Anchors, Calibrator, Camera, ContractError, RelativeDepth, read_camera, read_image, read_pose
from mrac.clouds import read_cloud
from mrac.conventions import as_numbers


@pytest.mark.parametrize("argument", ["method", "space", "device"])
def test_an_array_in_place_of_a_name(argument: str) -> None:
    wrong: dict[str, Any] = {argument: np.ones((3, 2))}
    with pytest.raises(ContractError, match=argument):
        Calibrator(**wrong)


def test_a_stream_of_an_array_without_axes() -> None:
    with pytest.raises(ContractError, match="iterable"):
        Calibrator(foundation="none").stream(np.array("x"))


def test_a_camera_of_masked_numbers() -> None:
    masked: Any = np.ma.masked
    with pytest.raises(ContractError, match="fx_px"):
        Camera(masked, 1, 1, 1, 1, 1)


def test_numbers_that_are_no_numbers_in_a_damaged_file() -> None:
    """A signalling NaN made numpy warn when it was widened."""
    damaged = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    np.testing.assert_array_equal(as_numbers(damaged, "test"), [np.nan, 1.0])


def test_a_pcd_with_python_in_place_of_a_size(tmp_path: Path) -> None:
    head = "VERSION .7\nFIELDS x y z\nSIZE 4 (4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA binary\n"
    (tmp_path / "a.pcd").write_bytes(head.encode() + bytes(12))
    with pytest.raises(ContractError, match=r"a\.pcd has fields that do not fit"):
        read_cloud(tmp_path / "a.pcd")


@pytest.mark.parametrize("name", ["a.ply", "a.pcd"])
def test_a_coordinate_that_single_precision_does_not_hold(name: str, tmp_path: Path) -> None:
    columns = "".join(f"property float {axis}\n" for axis in "xyz")
    heads = {
        "a.ply": f"ply\nformat ascii 1.0\nelement vertex 1\n{columns}end_header\n",
        "a.pcd": "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA ascii\n",
    }
    (tmp_path / name).write_text(heads[name] + "1 1e60 2\n")
    assert not np.isfinite(read_cloud(tmp_path / name).xyz_m).all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # numpy 2 still takes "a" for text
def test_a_pcd_of_text_in_place_of_numbers(tmp_path: Path) -> None:
    head = "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE a F F\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA binary\n"
    (tmp_path / "a.pcd").write_bytes(head.encode() + b"\x04\x90#\xc0" + bytes(8))
    with pytest.raises(ContractError, match=r"a\.pcd: x: numbers are needed, text"):
        read_cloud(tmp_path / "a.pcd")


def test_a_calibration_whose_projection_is_singular(tmp_path: Path) -> None:
    lines = "P2: 0 0 0 0 0 0 0 0 0 0 0 0\nR0_rect: 1 0 0 0 1 0 0 0 1\nTr_velo_to_cam: 0 -1 0 0 0 0 -1 0 1 0 0 0\n"
    (tmp_path / "calib.txt").write_text(lines)
    with pytest.raises(ContractError, match=r"calib\.txt"):
        read_pose(tmp_path / "calib.txt")


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_many_digits_in_yaml(digits: int, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    matrix = f"camera_matrix:\n  data: [1{digits * '0'}, 0, 4, 0, 30, 3, 0, 0, 1]\n"
    (tmp_path / "a.yaml").write_text("image_width: 8\nimage_height: 6\n" + matrix)
    with pytest.raises(ContractError, match=r"a\.yaml"):
        read_camera(tmp_path / "a.yaml")


def test_a_ragged_list_in_place_of_an_image() -> None:
    out = Calibrator(foundation="none")(np.zeros((4, 4, 3), np.uint8), Anchors([[1.0, 1.0]], [1.0]))
    ragged: Any = [1, [2, 3]]
    with pytest.raises(ContractError, match="points: image"):
        out.points(Camera(4, 4, 2, 2, 4, 4), image=ragged)


def test_an_option_of_400_digits(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f'[gate]\nname = "theil_sen_mad"\n[gate.options]\nkappa = {10**400}\n')
    with pytest.raises(ContractError, match="kappa"):
        Calibrator.from_config(tmp_path / "a.toml")


def test_relative_depth_of_damaged_numbers() -> None:
    damaged = np.array([[0x7FF0000000000001, 0]], np.uint64).view(np.float64)
    assert np.isnan(RelativeDepth(damaged, "depth").values[0, 0])


def test_a_projection_of_kitti_that_is_nearly_none(tmp_path: Path) -> None:
    """Solved without complaint, to a place at infinity."""
    rows = "P2: 30 0 4 0 0 30 3 0 1e-320 0 0 1\nR0_rect: 1 0 0 0 1 0 0 0 1\nTr_velo_to_cam: 0 -1 0 0 0 0 -1 0 1 0 0 0\n"
    (tmp_path / "calib.txt").write_text(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ContractError, match="no camera's"):
            read_pose(tmp_path / "calib.txt")


def test_a_damaged_tag_of_a_picture_is_not_shouted(tmp_path: Path) -> None:
    file = io.BytesIO()
    Image.fromarray(np.zeros((6, 8, 3), np.uint8)).save(file, format="TIFF")
    content = bytearray(file.getvalue())
    for place in range(len(content) - 40, len(content)):
        content[place] ^= 0x5A
        (tmp_path / "a.tif").write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with suppress(ContractError):
                read_image(tmp_path / "a.tif")


def test_a_number_of_points_of_thousands_of_digits_is_no_ply(tmp_path: Path) -> None:
    header = f"ply\nformat ascii 1.0\nelement vertex {'9' * 5000}\nproperty float x\nend_header\n"
    (tmp_path / "a.ply").write_text(header)
    with pytest.raises(ContractError, match=r"a\.ply has a header line 'element vertex 999"):
        read_cloud(tmp_path / "a.ply")


def test_readings_in_one_pixel_may_be_all_that_there_is() -> None:
    out = Calibrator(foundation="none")(np.zeros((2, 2, 3), np.uint8), Anchors([[0.0, 0.0], [1e-12, 0.0]], [1.0, 1.0]))
    assert np.isfinite(out.depth_m).all()


@pytest.mark.lab
def test_a_fixed_slice_of_the_generated_cases_breaks_nothing() -> None:
    command = [sys.executable, "-m", "mrac.lab.studies.fuzz", "--cases", "25", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

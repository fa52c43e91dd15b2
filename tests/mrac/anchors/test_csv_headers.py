from pathlib import Path

import numpy as np
import pytest

from mrac import Anchors, ContractError
from mrac.anchors import csv, read_anchors
from mrac.camera import Camera


def read(tmp_path: Path, text: str, encoding: str = "utf-8", **options: object) -> Anchors:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    return read_anchors(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("header", "stored"),
    [
        ("u,v,z_mm", 1500.0),
        ("u,v,z_cm", 150.0),
        ("u,v,depth_mm", 1500.0),
        ("u,v,distance", 1.5),
        ("u,v,distance_cm", 150.0),
        ("u [px],v [px],Z [mm]", 1500.0),
        ("x (px),y (px),Depth (m)", 1.5),
        ("u_px,v_px,z [ft]", 1.5 / 0.3048),
        ("pixel_x,pixel_y,metres", 1.5),
    ],
)
def test_a_unit_in_the_header_sets_the_scale(header: str, stored: float, tmp_path: Path) -> None:
    anchors = read(tmp_path, f"{header}\n3,4,{stored!r}\n")
    np.testing.assert_allclose(anchors.uv_px, [[3.0, 4.0]])
    assert anchors.z_m[0] == pytest.approx(1.5)


@pytest.mark.parametrize("delimiter", [";", "\t", "; ", " "])
def test_decimal_commas_where_something_else_separates(delimiter: str, tmp_path: Path) -> None:
    lines = ["u v z_mm".replace(" ", delimiter), "1,25 2 1500,5".replace(" ", delimiter)]
    anchors = read(tmp_path, "\n".join(lines))
    np.testing.assert_allclose(anchors.uv_px, [[1.25, 2.0]])
    assert anchors.z_m[0] == pytest.approx(1.5005)


def test_thousands_are_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"line 2 has z = '1\.234,5'"):
        read(tmp_path, "u;v;z\n1;2;1.234,5\n")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_encodings_of_spreadsheets(encoding: str, tmp_path: Path) -> None:
    anchors = read(tmp_path, "u;v;z [mm]\r\n1;2;1500\r\n", encoding)
    assert anchors.z_m.tolist() == [1.5]


def test_blanks_between_columns_and_before_units(tmp_path: Path) -> None:
    assert read(tmp_path, "u [px] v [px] z [mm]\n1 2 1500\n").z_m.tolist() == [1.5]


@pytest.mark.parametrize(
    ("header", "sigma"), [("z_mm,sigma_mm", 0.03), ("z_mm,sigma", 0.03), ("z_mm,std_m", 30.0), ("z,sigma_mm", 0.03)]
)
def test_the_deviation_has_a_unit_of_its_own_or_that_of_the_depth(header: str, sigma: float, tmp_path: Path) -> None:
    anchors = read(tmp_path, f"u,v,{header}\n1,2,1500,30\n")
    assert anchors.sigma_m is not None
    assert anchors.sigma_m[0] == pytest.approx(sigma)


@pytest.mark.parametrize(("header", "cell"), [("confidence", "0.4"), ("weight", "0.4"), ("confidence [%]", "40")])
def test_confidence(header: str, cell: str, tmp_path: Path) -> None:
    anchors = read(tmp_path, f"u,v,z_mm,{header}\n1,2,3000,{cell}\n")
    assert anchors.confidence is not None
    assert anchors.confidence[0] == pytest.approx(0.4)


def test_a_confidence_over_one_is_another_scale(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"confidence of 255.*confidence \[%\]"):
        read(tmp_path, "u,v,z,confidence\n1,2,3,255\n")


def test_flags_are_words(tmp_path: Path) -> None:
    anchors = read(tmp_path, "u,v,z,flag\n1,2,3,\n1,2,3,0\n1,2,3,ok\n1,2,3,4\n1,2,3,no target\n")
    assert anchors.flag is not None
    assert anchors.flag.tolist() == ["", "", "", "sensor_status_4", "no_target"]


def test_ray_lengths_need_a_camera(tmp_path: Path) -> None:
    text = "u,v,range_m,sigma\n0,50,2,0.1\n100,50,2,0.1\n"
    with pytest.raises(ContractError, match=r"lengths of rays.*camera"):
        read(tmp_path, text)
    anchors = read(tmp_path, text, camera=Camera(100, 100, 0, 50, 200, 100))
    assert anchors.sigma_m is not None
    np.testing.assert_allclose(anchors.z_m, [2.0, 2.0 / np.sqrt(2.0)])
    np.testing.assert_allclose(anchors.sigma_m, [0.1, 0.1 / np.sqrt(2.0)])


def test_depth_is_preferred_to_ray_length(tmp_path: Path) -> None:
    assert read(tmp_path, "u,v,range_m,z_m\n1,2,9,3\n").z_m.tolist() == [3.0]


def test_metric_x_and_y_are_no_pixels(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no column 'u'"):
        read(tmp_path, "x_m,y_m,z_m\n1,2,3\n")


def test_confidence_and_flags_are_written_and_read_back(tmp_path: Path) -> None:
    written = Anchors([[1, 2], [3, 4]], [1.0, 2.0], confidence=[0.25, 1 / 3], flag=["", "occluded"])
    csv.write(tmp_path / "a.csv", written)
    again = read_anchors(tmp_path / "a.csv")
    assert again.confidence is not None
    assert again.flag is not None
    np.testing.assert_array_equal(again.confidence, [0.25, 1 / 3])
    assert again.flag.tolist() == ["", "occluded"]


def test_a_status_of_zero_is_no_fault_in_a_table_of_floats(tmp_path: Path) -> None:
    assert read(tmp_path, "u,v,z,status\n1,2,3,0.0\n1,2,3,4.0\n").flag.tolist() == ["", "sensor_status_4"]  # type: ignore[union-attr]


def test_more_cells_than_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"line 2 has 6 cells, the header 3; .*decimal commas"):
        read(tmp_path, "u,v,z\n12,5,30,0,2,75\n")
    assert read(tmp_path, "u,v,z\n12,5,30,\n").z_m.tolist() == [30.0]

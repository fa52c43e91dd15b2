from pathlib import Path

import numpy as np
import pytest

from mrac.clouds import PointCloud, read_cloud
from mrac.errors import ContractError

XYZ = np.array([[1.0, 2.0, 3.0], [-4.5, 5.0, 6.25]])


def test_numpy_arrays_of_three_four_and_more_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    for extra, intensity in ((0, None), (1, [9.0, 9.0]), (3, None)):
        np.save(path, np.concatenate([XYZ, np.full((2, extra), 9.0)], axis=1))
        cloud = read_cloud(path)
        np.testing.assert_array_equal(cloud.xyz_m, XYZ)
        assert (None if cloud.intensity is None else cloud.intensity.tolist()) == intensity


def test_structured_numpy_arrays(tmp_path: Path) -> None:
    table = np.zeros(2, [("X", "f4"), ("y", "f8"), ("z", "f4"), ("reflectance", "f4")])
    table["X"], table["y"], table["z"] = XYZ.T
    np.save(tmp_path / "a.npy", table)
    cloud = read_cloud(tmp_path / "a.npy")
    np.testing.assert_array_equal(cloud.xyz_m, XYZ)
    np.testing.assert_array_equal(cloud.intensity, [0, 0])


@pytest.mark.parametrize(("name", "columns"), [("a.bin", 4), ("a.pcd.bin", 5)])
def test_rows_of_float32(tmp_path: Path, name: str, columns: int) -> None:
    table = np.arange(2 * columns, dtype=np.float32).reshape(2, columns)
    table.tofile(tmp_path / name)
    cloud = read_cloud(tmp_path / name)
    np.testing.assert_array_equal(cloud.xyz_m, table[:, :3])
    np.testing.assert_array_equal(cloud.intensity, table[:, 3])


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3\n-4.5 5 6.25\n",
        "1,2,3\n-4.5,5,6.25\n",
        "x,y,z\n1,2,3\n-4.5,5,6.25\n",
        "# scanned on Monday\n# x y z\n1 2 3\n\n-4.5 5 6.25\n",
        "//X Y Z\n1 2 3\n-4.5 5 6.25\n",
        "z;x;y\n3,0;1,0;2,0\n6,25;-4,5;5,0\n",
        "x_mm\ty [cm]\tz [m]\n1000\t200\t3\n-4500\t500\t6.25\n",
        "X [m] Y [m] Z [m]\n1 2 3\n-4.5 5 6.25\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_tables(tmp_path: Path, text: str, encoding: str) -> None:
    (tmp_path / "a.xyz").write_text(text, encoding=encoding)
    np.testing.assert_allclose(read_cloud(tmp_path / "a.xyz").xyz_m, XYZ)


def test_colours_and_intensity_of_a_text_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,z,r,g,b,Intensity\n1,2,3,255,0,7,0.5\n-4.5,5,6.25,1,2,3,0.25\n")
    cloud = read_cloud(tmp_path / "a.csv")
    np.testing.assert_array_equal(cloud.rgb, [[255, 0, 7], [1, 2, 3]])
    np.testing.assert_array_equal(cloud.intensity, [0.5, 0.25])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.obj", b"v 1 2 3", r"ends in '\.obj'"),
        ("a.npy", b"", "no readable"),
        ("a.npy", b"\x93NUMPY\x01\x00garbage", "no readable"),
        ("a.npy", b"\x93NUMPY\x01\x00\x08\x00{'descr'", "no readable"),
        ("a.bin", b"12345", "5 bytes"),
        ("a.bin", np.full(4, 1e30, "<f4").tobytes(), "no coordinates"),
        ("a.bin", np.full(4, np.nan, "<f4").tobytes(), "no coordinates"),
        ("a.csv", b"", "no row of numbers"),
        ("a.csv", b"x,y,z\n", "no row of numbers"),
        ("a.csv", b"1,2\n3,4\n", r"\(N, 3\)"),
        ("a.csv", b"1,2,3\n4,five,6\n", "no table of numbers"),
        ("a.csv", b"1,2,3\n4,5\n", "no table of numbers"),
        ("a.csv", b"x,y,z\n1,2\n3,4\n", "3 names over 2 columns"),
        ("a.csv", b"x,y,depth\n1,2,3\n", "no field 'z'"),
        ("a.csv", b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_a_broken_file_is_one_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ContractError, match=message) as caught:
        read_cloud(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_numpy_sizes_are_checked_before_memory_is_reserved(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", XYZ)
    raw = (tmp_path / "a.npy").read_bytes().replace(b"(2, 3), }" + b" " * 13, b"(2" + b"0" * 13 + b", 3), }")
    assert b"0000000, 3)" in raw
    (tmp_path / "a.npy").write_bytes(raw)
    with pytest.raises(ContractError, match="no readable"):
        read_cloud(tmp_path / "a.npy")


def test_missing_files_archives_and_shapes(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no such file"):
        read_cloud(tmp_path / "a.ply")
    np.savez(tmp_path / "a.npz", XYZ)
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    with pytest.raises(ContractError, match=r"an \.npz archive"):
        read_cloud(tmp_path / "a.npy")
    with pytest.raises(ContractError, match=r"PointCloud\.xyz_m"):
        PointCloud([[1.0, 2.0]])
    with pytest.raises(ContractError, match=r"PointCloud\.intensity"):
        PointCloud(XYZ, intensity=[1.0])


@pytest.mark.parametrize(("unit", "metres"), [("km", 2000.0), ("feet", 0.6096), ("ft", 0.6096), ("cm", 0.02)])
def test_units_in_a_header(tmp_path: Path, unit: str, metres: float) -> None:
    (tmp_path / "a.csv").write_text(f"x [{unit}],y [{unit}],z [{unit}]\n2,2,2\n")
    np.testing.assert_allclose(read_cloud(tmp_path / "a.csv").xyz_m, [[metres] * 3])

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mrac.clouds import read_cloud, write_ply
from mrac.errors import ContractError

XYZ = np.array([[0.5, -1.25, 3.0], [2.0, 0.0, 7.5], [-4.0, 1.0, 0.125]])
RGB = np.array([[255, 0, 7], [1, 2, 3], [9, 128, 254]], np.uint8)
HEADER = """ply
format {kind} 1.0
comment made here
element sensor 1
property ushort id
element vertex 3
property float x
property double y
property float z
property uchar red
property uchar green
property uchar blue
property float intensity
element face 1
property list uchar int vertex_indices
end_header
"""


def body(order: str) -> bytes:
    kinds = {"x": "f4", "y": "f8", "z": "f4", "r": "u1", "g": "u1", "b": "u1", "i": "f4"}
    table = np.zeros(3, np.dtype([(name, order + kind) for name, kind in kinds.items()]))
    for i, name in enumerate("xyz"):
        table[name] = XYZ[:, i]
    for i, name in enumerate("rgb"):
        table[name] = RGB[:, i]
    table["i"] = (0.25, 0.5, 1.0)
    face = np.array([0, 1, 2], f"{order}i4").tobytes()
    return np.array([5], f"{order}u2").tobytes() + table.tobytes() + b"\x03" + face


def text() -> bytes:
    rows = [" ".join(map(str, [*p, *c, i])) for p, c, i in zip(XYZ, RGB, (0.25, 0.5, 1.0), strict=True)]
    return ("5\n" + "\n".join(rows) + "\n3 0 1 2\n").encode()


@pytest.mark.parametrize(
    ("kind", "content"),
    [("binary_little_endian", body("<")), ("binary_big_endian", body(">")), ("ascii", text())],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_encoding_is_read(tmp_path: Path, kind: str, content: bytes, newline: str) -> None:
    path = tmp_path / "a.PLY"
    path.write_bytes(HEADER.format(kind=kind).replace("\n", newline).encode() + content)
    cloud = read_cloud(path)
    np.testing.assert_array_equal(cloud.xyz_m, XYZ)
    np.testing.assert_array_equal(cloud.rgb, RGB)
    np.testing.assert_array_equal(cloud.intensity, (0.25, 0.5, 1.0))


@given(arrays(np.float32, st.tuples(st.integers(0, 20), st.just(3)), elements=st.floats(-900, 900, width=32)))
@settings(max_examples=25, deadline=None)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, xyz: np.ndarray) -> None:
    path = tmp_path_factory.mktemp("ply") / "a.ply"
    write_ply(path, xyz, np.full(xyz.shape, 7, np.uint8), intensity=np.arange(len(xyz)))
    cloud = read_cloud(path)
    np.testing.assert_array_equal(cloud.xyz_m, xyz)
    assert cloud.rgb is not None
    assert cloud.rgb.shape == xyz.shape
    np.testing.assert_array_equal(cloud.intensity, np.arange(len(xyz)))


def test_map_coordinates_keep_their_millimetres(tmp_path: Path) -> None:
    xyz = np.array([[635619.851, 848899.702, 406.593]])
    write_ply(tmp_path / "a.ply", xyz)
    np.testing.assert_array_equal(read_cloud(tmp_path / "a.ply").xyz_m, xyz)


def test_trimesh_reads_what_is_written_and_writes_what_is_read(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    rng = np.random.default_rng(0)
    xyz, rgb = rng.normal(size=(50, 3)), rng.integers(0, 256, (50, 3), np.uint8)
    write_ply(tmp_path / "a.ply", xyz, rgb, sigma_m=np.ones(50))
    loaded = trimesh.load(tmp_path / "a.ply")
    np.testing.assert_allclose(loaded.vertices, xyz, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(loaded.colors)[:, :3], rgb)
    for encoding in ("ascii", "binary"):
        loaded.export(tmp_path / "b.ply", encoding=encoding)
        again = read_cloud(tmp_path / "b.ply")
        np.testing.assert_allclose(again.xyz_m, xyz, atol=1e-6)
        np.testing.assert_array_equal(again.rgb, rgb)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no PLY header"),
        (b"ply\nformat ascii 1.0\n", "no PLY header"),
        (b"end_header\n", "no PLY header"),
        (b"ply\nelement vertex 1\nproperty float x\nend_header\n1", "states no format"),
        (b"ply\nformat ascii 1.0\nelement face 0\nend_header\n", "no element `vertex`"),
        (
            b"ply\nformat ascii 1.0\nelement vertex -1\nproperty float x\nend_header\n",
            "header line 'element vertex -1'",
        ),
        (b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", "no field 'y'"),
        (b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\nsix\n", "is broken"),
        (HEADER.format(kind="ascii").encode() + text()[:30], "cut short"),
        (HEADER.format(kind="ascii").encode() + text()[:55], "is broken"),
        (HEADER.format(kind="binary_little_endian").encode() + body("<")[:60], "cut short"),
        (
            b"ply\nformat binary_big_endian 1.0\nelement vertex 99999999999999\nproperty double x\nend_header\n1234",
            "cut short",
        ),
        (
            b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty list uchar int x\nend_header\n1234",
            "a list in or before",
        ),
    ],
)
def test_a_broken_file_is_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.ply"
    path.write_bytes(content)
    with pytest.raises(ContractError, match=message) as caught:
        read_cloud(path)
    assert "broken.ply" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="write_ply: sigma_m"):
        write_ply(tmp_path / "a.ply", XYZ, sigma_m=[1.0])
    with pytest.raises(ContractError, match=r"PointCloud\.rgb"):
        write_ply(tmp_path / "a.ply", XYZ, np.ones((3, 3)))

import contextlib
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac.clouds import read_cloud
from mrac.errors import ContractError
from mrac.lab.data.manifest import read_manifest

PACKS = Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data"))
HEADER = """# .PCD v0.7
VERSION 0.7
FIELDS x y z rgb _ intensity
SIZE 4 4 8 4 1 2
TYPE F F F F U U
COUNT 1 1 1 1 3 1
WIDTH 2
HEIGHT 1
VIEWPOINT 0 0 0 1 0 0 0
POINTS 2
DATA {kind}
"""
FIELDS = (("x", "<f4"), ("y", "<f4"), ("z", "<f8"), ("rgb", "<u4"), ("_", "u1", (3,)), ("intensity", "<u2"))
XYZ = np.array([[0.5, -1.5, 2.25], [np.nan, np.nan, np.nan]])
RGB = np.array([[255, 128, 1], [0, 0, 9]], np.uint8)


def table() -> np.ndarray:
    rows = np.zeros(2, np.dtype(list(FIELDS)))
    for i, name in enumerate("xyz"):
        rows[name] = XYZ[:, i]
    rows["rgb"] = RGB.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    rows["intensity"] = (7, 300)
    return rows


def literal_lzf(raw: bytes) -> bytes:
    """LZF without any compression."""
    parts = [raw[i : i + 32] for i in range(0, len(raw), 32)]
    return b"".join(bytes([len(part) - 1]) + part for part in parts)


def compressed(packed: bytes, size: int) -> bytes:
    return np.array([len(packed), size], "<u4").tobytes() + packed


def content(kind: str) -> bytes:
    rows = table()
    if kind == "binary":
        return rows.tobytes()
    if kind == "binary_compressed":
        raw = b"".join(rows[name].tobytes() for name in rows.dtype.names or ())
        return compressed(literal_lzf(raw), len(raw))
    packed = rows["rgb"].view("<f4")
    lines = [f"{x} {y} {z} {c:.12g} 0 0 0 {i}" for (x, y, z), c, i in zip(XYZ, packed, rows["intensity"], strict=True)]
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize("kind", ["ascii", "binary", "binary_compressed"])
def test_every_encoding_is_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.pcd"
    path.write_bytes(HEADER.format(kind=kind).encode() + content(kind))
    cloud = read_cloud(path)
    np.testing.assert_array_equal(cloud.xyz_m, XYZ)
    np.testing.assert_array_equal(cloud.rgb, RGB)
    np.testing.assert_array_equal(cloud.intensity, (7, 300))


def one_field(packed: bytes, num: int) -> bytes:
    head = f"VERSION 0.7\nFIELDS x y z\nSIZE 1 1 1\nTYPE U U U\nCOUNT 1 1 1\nWIDTH {num}\nHEIGHT 1\nPOINTS {num}\n"
    return head.encode() + b"DATA binary_compressed\n" + compressed(packed, 3 * num)


def test_copies_of_lzf_short_long_and_overlapping(tmp_path: Path) -> None:
    path = tmp_path / "a.pcd"
    # Four bytes as they are; a copy of 3 from 4 back; then 1 back, 7 + 8 + 2 = 17 times: the run of one value.
    path.write_bytes(one_field(bytes([3, 1, 2, 3, 4, 1 << 5, 3, 7 << 5, 8, 0]), 8))
    raw = [1, 2, 3, 4, 1, 2, 3, *[3] * 17]
    np.testing.assert_array_equal(read_cloud(path).xyz_m.T, np.reshape(raw, (3, 8)))


@pytest.mark.parametrize(
    "packed",
    [bytes([3, 1]), bytes([1 << 5, 0]), bytes([0, 1, 7 << 5]), bytes([0, 1, 7 << 5, 255, 0]), bytes([5, *range(6)])],
)
def test_a_block_that_does_not_decompress_is_one_line(tmp_path: Path, packed: bytes) -> None:
    (tmp_path / "a.pcd").write_bytes(one_field(packed, 1))
    with pytest.raises(ContractError, match=r"a\.pcd is broken"):
        read_cloud(tmp_path / "a.pcd")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("DATA", "DUTY", "no PCD header"),
        ("POINTS 2", "POINTS 3", "do not say how many"),
        ("WIDTH 2", "WIDTH two", "do not say how many"),
        ("WIDTH 2\nHEIGHT 1", "WIDTH -2\nHEIGHT -1", "do not say how many"),
        ("SIZE 4 4 8", "SIZE 4 8", "do not fit together"),
        ("SIZE 4 4 8", "SIZE 4 4 7", "do not fit together"),
        ("FIELDS x y z", "FIELDS a y z", "no field 'x'"),
        ("WIDTH 2\nHEIGHT 1", "WIDTH 200000000\nHEIGHT 1", "do not say how many"),
        ("binary", "zipped", "DATA zipped"),
    ],
)
def test_a_broken_header_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "a.pcd").write_bytes(HEADER.format(kind="binary").replace(old, new).encode() + content("binary"))
    with pytest.raises(ContractError, match=message) as caught:
        read_cloud(tmp_path / "a.pcd")
    assert "a.pcd" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_long_word_does_not_make_the_whole_table_wide(tmp_path: Path) -> None:
    rows = f"1 2 3 0 0 0 0 0\n1 2 3 0 0 0 0 {'0' * 65}\n"
    (tmp_path / "a.pcd").write_text(HEADER.format(kind="ascii") + rows)
    with pytest.raises(ContractError, match=r"a\.pcd is broken"):
        read_cloud(tmp_path / "a.pcd")


@pytest.mark.parametrize("kind", ["ascii", "binary", "binary_compressed"])
def test_sizes_are_checked_before_memory_is_reserved(tmp_path: Path, kind: str) -> None:
    huge = HEADER.format(kind=kind).replace("WIDTH 2", "WIDTH 200000000").replace("POINTS 2", "POINTS 200000000")
    (tmp_path / "a.pcd").write_bytes(huge.encode() + content(kind))
    with pytest.raises(ContractError, match="is cut short"):
        read_cloud(tmp_path / "a.pcd")


def test_a_compressed_block_too_small_for_what_it_states_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pcd").write_bytes(one_field(bytes([0, 1]), 1000))
    with pytest.raises(ContractError, match="cut short or broken"):
        read_cloud(tmp_path / "a.pcd")


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_damage_is_a_contract_error_or_nothing(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["ascii", "binary", "binary_compressed"]))
    raw = bytearray(HEADER.format(kind=kind).encode() + content(kind))
    for _ in range(3):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.pcd"
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
    with contextlib.suppress(ContractError):
        read_cloud(path)


def test_an_organised_kinect_cloud_is_the_depth_image_of_its_scene() -> None:
    path = PACKS / "raw" / "pcd" / "learn0.pcd"
    if not path.is_file():
        pytest.skip("the data packs are not here")
    cloud = read_cloud(path)
    assert len(cloud) == 640 * 480
    assert cloud.rgb is not None
    frame = next(f for f in read_manifest(PACKS / "more", "mosd") if f.row["id"] == "learn0")
    depth = frame.depth_m("depth")
    v, u = np.nonzero(depth > 0)
    at = (v * 4 // 3 * 640 + u * 4 // 3).astype(int)  # the image is three quarters of its size
    z = cloud.xyz_m[at, 2]
    seen = np.isfinite(z)
    assert seen.mean() > 0.99
    assert np.median(np.abs(z - depth[v, u])[seen]) < 0.002
    assert np.abs(cloud.rgb[at].astype(float) - frame.image()[v, u])[seen].mean() < 8.0

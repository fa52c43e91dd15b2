"""Files that would grow beyond the limits are refused before they do: each test fails by memory or time otherwise."""

import io
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.http import Limits, TooLargeError, UnsupportedError
from mrac.http.expansion import check_file, check_picture
from tests.mrac.http.frames import npz, png

LIMITS = Limits(pixels=100_000)


@pytest.fixture(autouse=True)
def memory_stays_small() -> Iterator[None]:
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def huge_png(side: int) -> bytes:
    """A PNG whose header states side × side pixels; its data are a few bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + body + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [317, 5_000, 60_000, 2**31 - 1])
def test_a_picture_with_a_huge_header_is_refused(side: int) -> None:
    with pytest.raises(TooLargeError, match="by its header"):
        check_picture(huge_png(side), "image", LIMITS)


def test_a_picture_at_the_limit_is_accepted() -> None:
    check_picture(png(np.zeros((250, 400, 3), np.uint8)), "image", LIMITS)


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_a_huge_depth_image_is_refused(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"a{suffix}").write_bytes(huge_png(5_000))
    with pytest.raises(TooLargeError):
        check_file(tmp_path / f"a{suffix}", "anchors", LIMITS)


def refused(tmp_path: Path, name: str, content: bytes, kind: type[Exception], match: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(kind, match=match):
        check_file(tmp_path / name, "anchors", LIMITS)


def bomb(method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive, archive.open("uv_px.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (2_000_000, 2)})
        for _ in range(32):
            member.write(bytes(1_000_000))
    return content.getvalue()


def test_archives_that_grow_are_refused(tmp_path: Path) -> None:
    refused(tmp_path, "a.npz", bomb(), TooLargeError, "once expanded")
    refused(tmp_path, "a.npz", npz(**{f"a{i}": np.zeros(1) for i in range(65)}), TooLargeError, "65 arrays")


def test_an_archive_of_an_unbounded_method_is_refused(tmp_path: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("uv_px.npy", bytes(1000))
    refused(tmp_path, "a.npz", content.getvalue(), UnsupportedError, "method 12")


def stated(shape: tuple[int, ...], num: int = 8, kind: str = "<f8") -> bytes:
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": kind, "fortran_order": False, "shape": shape})
    return content.getvalue() + bytes(num)


def test_an_array_that_states_more_than_it_has_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, "a.npy", stated((10**12, 3)), TooLargeError, "bytes; send")
    refused(tmp_path, "a.npy", stated((10**30,)), TooLargeError, "bytes; send")
    refused(tmp_path, "a.npy", stated((1000, 3)), ContractError, "are there")
    refused(tmp_path, "a.npy", stated((10**9,), kind="<U0"), TooLargeError, "bytes; send")
    refused(tmp_path, "a.npy", stated((500, 500), 250_000, kind="|u1"), TooLargeError, "bytes; send")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("uv_px.npy", stated((10_000, 2)))
    refused(tmp_path, "a.npz", content.getvalue(), ContractError, "are there")


def test_a_compressed_cloud_that_grows_is_refused(tmp_path: Path) -> None:
    head = b"VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 99999999\nHEIGHT 1\nPOINTS 99999999\n"
    block = struct.pack("<II", 20_000_000, 12 * 99_999_999)
    for data in (b"DATA binary_compressed\n", b" DATA binary_compressed\n", b"#" * 4096 + b"DATA binary_compressed\n"):
        refused(tmp_path, "a.pcd", head + data + block, TooLargeError, "once expanded")
    small = head.replace(b"4 4 4", b"1 1 1").replace(b"F F F", b"U U U").replace(b"99999999", b"100001")
    refused(tmp_path, "a.pcd", small + b"DATA binary_compressed\n", TooLargeError, "100,001 points")


def test_a_laz_of_many_points_is_refused(tmp_path: Path) -> None:
    laspy = pytest.importorskip("laspy")
    las = laspy.create()
    las.x = las.y = las.z = np.zeros(100_001)
    las.write(tmp_path / "a.laz")
    refused(tmp_path, "b.laz", (tmp_path / "a.laz").read_bytes(), TooLargeError, "100,001 points")


def test_a_huge_exr_is_refused(tmp_path: Path) -> None:
    openexr = pytest.importorskip("OpenEXR")
    header = {"compression": openexr.ZIP_COMPRESSION, "type": openexr.scanlineimage}
    openexr.File(header, {"Z": np.zeros((320, 320), np.float32)}).write(str(tmp_path / "a.exr"))
    refused(tmp_path, "b.exr", (tmp_path / "a.exr").read_bytes(), TooLargeError, "320×320")

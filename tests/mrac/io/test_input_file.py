"""Every file that a user names is looked at first: what cannot be read is one error, which names it."""

import io
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mrac
from mrac import ContractError, limits
from mrac.anchors.laser_scan import read_scan
from mrac.anchors.zones import from_zones
from mrac.camera.colmap import read_cameras
from mrac.clouds import read_cloud
from mrac.config import read_config
from mrac.foundation.onnx import Card
from mrac.foundation.precomputed import Precomputed
from mrac.io.arrays import read_array, read_arrays
from mrac.io.raster import read_raster
from mrac.io.safetensors import read_safetensors
from mrac.sensors.presets import sensor

IMAGE = np.zeros((4, 5, 3), np.uint8)
READERS: dict[str, Callable[[Path], Any]] = {
    "a.png": mrac.read_image,
    "a.csv": mrac.read_anchors,
    "b.npz": mrac.read_anchors,
    "c.png": mrac.read_anchors,
    "a.json": mrac.read_camera,
    "b.txt": mrac.read_pose,
    "c.json": lambda path: from_zones(path, image_size=(64, 48)),
    "d.json": read_scan,
    "e.toml": read_config,
    "f.json": read_config,
    "g.json": Card.read,
    "g.toml": sensor,
    "h.npy": read_array,
    "i.tif": read_raster,
    "j.safetensors": read_safetensors,
    "cameras.bin": read_cameras,
    "k.npz": lambda path: Precomputed(str(path))(IMAGE),
    **{f"cloud{suffix}": read_cloud for suffix in (".ply", ".pcd", ".npy", ".bin", ".xyz")},
}


EMPTY_AND_FINE = (("e.toml", b""), ("cloud.bin", b""))


def named(name: str) -> Any:
    """The file's name somewhere in the message: by its path."""
    return rf"{name.replace('.', '[.]')}"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ["missing", "pipe", "folder", "loop", "device", "not permitted"])
def test_what_is_no_readable_file_is_refused_at_once(name: str, kind: str, tmp_path: Path) -> None:
    """A pipe nobody writes to used to block for ever."""
    path = tmp_path / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "not permitted":
        path.write_bytes(b"0")
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("this user may read everything")
    with pytest.raises(ContractError, match=named(name)):
        READERS[name](path)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\xfa\x00\x80",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"\x93NUMPY\x01\x00v\x00{'d",
        b"PK\x03\x04zip",
    ],
    ids=["empty", "no text", "nested list", "nested object", "cut header", "cut archive"],
)
def test_a_broken_file_is_named(name: str, content: bytes, tmp_path: Path) -> None:
    if (name, content) in EMPTY_AND_FINE:
        pytest.skip("nothing chosen; no points")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ContractError, match=named(name)):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", READERS)
def test_a_file_of_ten_gigabytes_is_refused_by_its_size(name: str, tmp_path: Path) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(10 << 30)  # of holes: it takes no space
    with pytest.raises(ContractError, match=rf"{named(name)}.*MB"):
        READERS[name](tmp_path / name)


def npy_header(shape: tuple[int, ...]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_a_header_that_states_four_terabytes_is_refused(suffix: str, tmp_path: Path) -> None:
    content = npy_header((1 << 39,)) + bytes(64)
    path = tmp_path / f"a{suffix}"
    if suffix == ".npy":
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("z_m.npy", content)
    with pytest.raises(ContractError, match=rf"{named(path.name)}.*(GB|cut short)"):
        read_array(path) if suffix == ".npy" else read_arrays(path, ["z_m"])


def png(width: int, height: int) -> bytes:
    """A 16-bit grey PNG of zeros, one of the smallest files for its size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 16, 0, 0, 0, 0)
    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(bytes(1 + 2 * width)) for _ in range(height)) + packer.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def zeros_in_archive(path: Path, num_bytes: int) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, share in (("uv_px", 2), ("z_m", 1)):
            num = num_bytes // 3 // 8
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(npy_header((num, 2) if share == 2 else (num,)))
                member.write(bytes(1 << 20))
            archive.getinfo(f"{name}.npy").file_size = share * num * 8  # packing all of it would take 10 s


PEAK = """
import resource, sys, time
sys.path[:0] = {paths!r}
from mrac import read_anchors, ContractError
import mrac.anchors.npz, mrac.anchors.png
before = resource.getrusage(resource.RUSAGE_SELF)
try:
    read_anchors(sys.argv[1])
except ContractError as error:
    after = resource.getrusage(resource.RUSAGE_SELF)
    # ru_maxrss has the peak of the process that started this one in it.
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(peak, after.ru_utime - before.ru_utime, error)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("kind", ["npz", "png"])
def test_a_bomb_is_refused_by_its_header(kind: str, tmp_path: Path) -> None:
    """14 MB of .npz that are 3 GB of zeros took 59 s and 6.6 GB."""
    path = tmp_path / f"bomb.{kind}"
    if kind == "npz":
        zeros_in_archive(path, 3_000_000_000)
    else:
        path.write_bytes(png(17_000, 10_000))
    assert path.stat().st_size < 2_000_000
    code = PEAK.format(paths=sys.path)
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    peak_kb, seconds, message = done.stdout.split(maxsplit=2)
    assert f"bomb.{kind}" in message
    assert float(seconds) < 1.0  # of processor time, not of the clock
    assert int(peak_kb) < 200_000


def test_a_sparse_depth_map_packs_well_and_is_read(tmp_path: Path) -> None:
    """A megapixel of zeros and a few readings: its ratio is that of a bomb, and it is none."""
    (tmp_path / "a.png").write_bytes(png(1200, 1000))
    with pytest.raises(ContractError, match="scale"):  # which comes after reading
        mrac.read_anchors(tmp_path / "a.png")
    depth = np.zeros((1000, 1200), np.float32)
    np.savez_compressed(tmp_path / "b.npz", values=depth)
    assert read_arrays(tmp_path / "b.npz", ["values"])["values"].shape == depth.shape


def test_more_readings_than_the_limit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "READINGS", 3)
    (tmp_path / "a.csv").write_text("u,v,z\n" + "1,2,3\n" * 4)
    with pytest.raises(ContractError, match=r"a\.csv: 4 readings"):
        mrac.read_anchors(tmp_path / "a.csv")


def test_a_number_beyond_all_machines_in_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"fx": 10**400, "fy": 1, "cx": 1, "cy": 1, "width": 4, "height": 4}))
    with pytest.raises(ContractError, match=r"a\.json"):
        mrac.read_camera(tmp_path / "a.json")

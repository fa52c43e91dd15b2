"""Good files of every format that is read, and their readers: what the mutator starts from."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image

from mrac import read_anchors, read_camera, read_image, read_pose
from mrac.anchors.laser_scan import read_scan
from mrac.anchors.zones import from_zones
from mrac.camera.colmap import read_cameras
from mrac.clouds import PointCloud, read_cloud, write_ply
from mrac.config import arguments
from mrac.foundation.onnx import Card
from mrac.foundation.precomputed import Precomputed
from mrac.frames import Manifest
from mrac.io.raster import read_raster
from mrac.io.safetensors import read_safetensors
from mrac.lab.bench.store import Journal, read_about
from mrac.lab.data.manifest import read_manifest
from mrac.sensors.presets import sensor

_IMAGE: Final = np.random.default_rng(0).integers(0, 255, (6, 8, 3), dtype=np.uint8)
_DEPTH: Final = np.random.default_rng(1).integers(0, 5000, (6, 8), dtype=np.uint16)


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes:
        name: of the surface, and of the file.
        content: of a good file.
        read: takes the path.
    """

    name: str
    content: bytes
    read: Callable[[Path], Any]


def formats() -> list[Format]:
    """Every format that is read from a user's file."""
    return [*_anchors(), *_pictures(), *_clouds(), *_cameras(), *_descriptions(), *_runs()]


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


def _picture(array: Any, kind: str) -> bytes:
    return _saved(lambda file: Image.fromarray(array).save(file, format=kind))


def _anchors() -> list[Format]:
    table = b"u,v,z_m,sigma_m,confidence,flag\n1.5,2,3.25,0.1,0.9,\n4,5,1e1,,1,occluded\n3,1,2.5,0.2,0.5,\n"
    arrays = {"uv_px": np.ones((4, 2)), "z_m": np.arange(1.0, 5.0), "sigma_m": np.ones(4)}
    zones = {"z_mm": np.arange(100, 1700, 100).reshape(4, 4).tolist(), "status": [5] * 16}
    scan = {"ranges": [1.0, 2.0, None, 3.0], "angle_min": -0.5, "angle_increment": 0.3, "range_min": 0.1}
    values = {"values": np.random.default_rng(2).random((6, 8)), "space": np.array("depth")}
    return [
        Format("anchors.csv", table, read_anchors),
        Format("anchors.tsv", table.replace(b",", b"\t"), read_anchors),
        Format("anchors.npz", _saved(lambda file: np.savez_compressed(file, **arrays)), read_anchors),  # type: ignore[arg-type]
        Format("anchors.png", _picture(_DEPTH, "PNG"), lambda path: read_anchors(path, 1000.0)),
        Format("zones.json", json.dumps(zones).encode(), lambda path: from_zones(path, image_size=(8, 6))),
        Format("scan.json", json.dumps(scan).encode(), read_scan),
        Format("relative.npz", _saved(lambda file: np.savez(file, **values)), _precomputed),  # type: ignore[arg-type]
        Format("relative.npy", _saved(lambda file: np.save(file, values["values"])), _precomputed),
    ]


def _precomputed(path: Path) -> Any:
    return Precomputed(str(path))(_IMAGE)


def _pictures() -> list[Format]:
    kinds = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP", "PPM")
    read = [Format(f"image.{kind.lower()}", _picture(_IMAGE, kind), read_image) for kind in kinds]
    metres = _picture(_DEPTH.astype(np.float32), "TIFF")
    return [*read, Format("depth.tif", metres, read_raster), Format("depth.png", _picture(_DEPTH, "PNG"), read_raster)]


def _clouds() -> list[Format]:
    xyz = np.random.default_rng(3).normal(size=(5, 3))
    head = "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 5\nHEIGHT 1\nPOINTS 5\nDATA "
    rows = xyz.astype("<f4")
    text = "\n".join(" ".join(f"{v:g}" for v in row) for row in xyz)
    columns = "".join(f"property float {axis}\n" for axis in "xyz")
    ply = f"ply\nformat ascii 1.0\nelement vertex 5\n{columns}end_header\n{text}\n"
    return [
        Format("cloud.ply", ply.encode(), read_cloud),
        Format("binary.ply", _binary_ply(xyz), read_cloud),
        Format("cloud.pcd", f"{head}ascii\n{text}\n".encode(), read_cloud),
        Format("binary.pcd", f"{head}binary\n".encode() + rows.tobytes(), read_cloud),
        Format("cloud.npy", _saved(lambda file: np.save(file, rows)), read_cloud),
        Format("cloud.bin", np.ones((5, 4), "<f4").tobytes(), read_cloud),
        Format("cloud.xyz", f"x y z\n{text}\n".encode(), read_cloud),
    ]


def _binary_ply(xyz: Any) -> bytes:
    import tempfile  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        write_ply(Path(folder) / "a.ply", PointCloud(xyz).xyz_m, None)
        return (Path(folder) / "a.ply").read_bytes()


def _cameras() -> list[Format]:
    plain = {"fx": 30, "fy": 30, "cx": 4, "cy": 3, "width": 8, "height": 6}
    kitti = b"P2: 30 0 4 0 0 30 3 0 0 0 1 0\nR0_rect: 1 0 0 0 1 0 0 0 1\nTr_velo_to_cam: 0 -1 0 0 0 0 -1 0 1 0 0 0\n"
    ros = (
        b"image_width: 8\nimage_height: 6\ndistortion_model: plumb_bob\ncamera_matrix:\n  rows: 3\n  cols: 3\n"
        b"  data: [30, 0, 4, 0, 30, 3, 0, 0, 1]\ndistortion_coefficients:\n  data: [0.1, 0, 0, 0, 0]\n"
    )
    pose = b"1 0 0 0.1\n0 1 0 0\n0 0 1 0\n0 0 0 1\n"
    quaternion = {"rotation": [0, 0, 0, 1], "translation": [0, 0, 1]}
    return [
        Format("camera.json", json.dumps(plain).encode(), read_camera),
        Format("calib.txt", kitti, lambda path: read_camera(path, size=(8, 6))),
        Format("pose_calib.txt", kitti, read_pose),
        Format("camera.yaml", ros, read_camera),
        Format("cameras.txt", b"1 PINHOLE 8 6 30 30 4 3\n2 OPENCV 8 6 30 30 4 3 0 0 0 0\n", read_cameras),
        Format("cameras.bin", _colmap_binary(), read_cameras),
        Format("pose.txt", pose, read_pose),
        Format("pose.json", json.dumps(quaternion).encode(), read_pose),
    ]


def _colmap_binary() -> bytes:
    import struct  # noqa: PLC0415

    return struct.pack("<Q", 1) + struct.pack("<IiQQ", 1, 1, 8, 6) + struct.pack("<4d", 30, 30, 4, 3)


def _descriptions() -> list[Format]:
    card = {"input_size": [32, 32], "mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2], "space": "depth"}
    config = {"method": "default", "gate": {"name": "ransac", "options": {}}, "space": "depth", "device": "cpu"}
    toml = b'method = "mrac"\nfit = "ols"\n[gate]\nname = "theil_sen_mad"\n[gate.options]\nkappa = 3.0\n'
    own = b"[mine]\nscale = 1000.0\nmin_m = 0.2\nmax_m = 4.0\n"
    header = json.dumps({"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}).encode()
    tensors = len(header).to_bytes(8, "little") + header + np.ones(4, "<f4").tobytes()
    return [
        Format("card.json", json.dumps(card).encode(), Card.read),
        Format("config.json", json.dumps(config).encode(), arguments),
        Format("config.toml", toml, arguments),
        Format("sensor.toml", own, sensor),
        Format("weights.safetensors", tensors, read_safetensors),
    ]


def _runs() -> list[Format]:
    frames = b'{"options": {"a": 1}}\n{"frame": "x", "inputs": "0"}\n{"frame": "y", "inputs": "1"}\n'
    csv = b"set,id,scene,rgb,gt,gt_scale,gt_offset\nroom,1,a,1.png,1_gt.png,0.001,0\nroom,2,a,2.png,2_gt.png,0.001,0\n"
    row = {"set": "a", "source": "truth", "placement": "random", "num_anchors": 5, "seed": 0, "family": "near"}
    line = json.dumps({**row, "fraction": 0.5, "method": "mrac", "image": "1", "abs_rel": 0.25}).encode() + b"\n"
    return [
        Format("manifest.jsonl", frames, lambda path: Manifest(path.parent, {"a": 1})),
        Format("manifest.csv", csv, lambda path: [frame.file("rgb") for frame in read_manifest(path.parent)]),
        Format("journal.jsonl", 3 * line, lambda path: Journal(path.parent, set())),
        Format("run.json", b'{"protocol": {"name": "a"}, "cells": 3}', lambda path: read_about(path.parent)),
    ]

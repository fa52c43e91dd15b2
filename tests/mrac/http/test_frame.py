"""Readings of every kind that a client may send, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from mrac import Calibrator
from mrac.anchors.sources import _BY_SUFFIX
from mrac.clouds import write_ply
from mrac.errors import ContractError
from mrac.http import Limits, Submission, TooLargeError, UnsupportedError, Upload, calibrated, read_frame
from mrac.http.frame import SUFFIXES
from tests.mrac.http.frames import ANCHORS, IMAGE, ROWS, H, W, csv, npz, png, submission

LIMITS = Limits(pixels=H * W, anchors=50)
CAMERA = {"fx": 50.0, "fy": 50.0, "cx": W / 2, "cy": H / 2, "width": W, "height": H}


def sparse_png() -> bytes:
    depth = np.zeros((H, W), np.uint16)
    for u, v, z in ROWS:
        depth[int(v), int(u)] = round(1000 * z)
    return png(depth)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("", json.dumps(ROWS).encode()),
        ("a.json", json.dumps(ROWS).encode()),
        ("", csv()),
        ("a.CSV", csv()),
        ("../../../etc/passwd.csv", csv()),
        ("C:\\x\\a.txt", csv()),
        ("a\x00b/.tsv", csv().replace(b",", b"\t")),
        ("a.npz", npz(uv_px=ANCHORS.uv_px, z_m=ANCHORS.z_m)),
    ],
)
def test_readings_of_every_table_are_those_that_were_sent(name: str, content: bytes) -> None:
    frame = read_frame(submission(content, name), LIMITS)
    assert np.array_equal(frame.anchors.uv_px, ANCHORS.uv_px)
    assert np.array_equal(frame.anchors.z_m, ANCHORS.z_m)
    assert np.array_equal(frame.image, IMAGE)


def test_a_sparse_depth_image_needs_its_scale() -> None:
    frame = read_frame(submission(sparse_png(), "a.png", anchors_scale="mm"), LIMITS)
    assert sorted(frame.anchors.z_m) == pytest.approx(sorted(ANCHORS.z_m), abs=5e-4)
    with pytest.raises(ContractError, match="does not state its scale"):
        read_frame(submission(sparse_png(), "a.png"), LIMITS)


def test_a_cloud_is_projected_by_the_camera(tmp_path: Path) -> None:
    write_ply(tmp_path / "a.ply", np.array([[0.0, 0.0, 2.0], [0.1, 0.1, 3.0]]))
    sent = submission((tmp_path / "a.ply").read_bytes(), "scan.ply")
    sent.files["camera"] = Upload("", json.dumps(CAMERA).encode())
    frame = read_frame(sent, LIMITS)
    assert frame.anchors.z_m.tolist() == [2.0, 3.0]
    assert frame.camera is not None
    del sent.files["camera"]
    with pytest.raises(ContractError, match="the field camera FILE is needed"):
        read_frame(sent, LIMITS)


def test_zones_and_sensor_presets_are_read() -> None:
    zones = json.dumps({"distance_mm": np.full((4, 4), 1500).tolist()}).encode()
    sent = submission(zones, "a.json")
    sent.fields["from"] = "zones"
    frame = read_frame(sent, LIMITS)
    assert frame.anchors.z_m.tolist() == [1.5] * 16
    assert frame.anchors.extent_px is not None
    sensed = read_frame(submission(sensor="realsense"), LIMITS)
    assert sensed.sensor is not None
    result, anchors = calibrated(Calibrator("nearest"), sensed)
    assert anchors.sigma_m is not None
    assert len(result.anchors) == len(ROWS)


@pytest.mark.parametrize("spelling", ["{}", "{}:own", "\0.toml", "~nobody/a.toml"])
def test_a_client_cannot_name_a_sensor_file_of_the_server(tmp_path: Path, spelling: str) -> None:
    (tmp_path / "a.toml").write_text("[own]\nsecret = 1\n")
    with pytest.raises(ContractError, match=r"^sensor: .* arrived; one of vl53l5cx"):
        read_frame(submission(sensor=spelling.format(tmp_path / "a.toml")), LIMITS)


def test_every_suffix_of_a_reader_is_accepted() -> None:
    assert set(_BY_SUFFIX) <= set(SUFFIXES)


def test_null_and_nan_are_missing_readings_that_get_a_verdict() -> None:
    rows = json.dumps([*ROWS, [1, 1, None], [2, 2, float("nan")], [None, 3, 1.0]]).encode()
    frame = read_frame(submission(rows), LIMITS)
    result, _ = calibrated(Calibrator("nearest"), frame)
    assert not result.anchors.keep[-3:].any()
    assert np.isfinite(result.depth_m).all()


@pytest.mark.parametrize(
    ("anchors", "name", "message"),
    [
        (b"[[1, 2]]", "", "row 0 is"),
        (b'[[1, 2, 3], [1, 2, "x"]]', "", "row 1 is"),
        (b"[[1, 2, true]]", "", "row 0 is"),
        (b"[[1, 2, 1" + b"0" * 400 + b"]]", "", "row 0 is"),
        (b'{"u": 1}', "", "dict arrived"),
        (b"[" * 100_000, "", "not readable as JSON"),
        (b"\xff\xfe\x00garbage", "a.csv", "anchors"),
        (b"u,v,z\n1,2,x", "a.csv", "line 2"),
        (b"u,v,range\n1,2,3", "a.csv", "lengths of rays"),
        (b"garbage", "a.npz", "not a readable .npz"),
        (b"garbage", "a.ply", "no PLY header"),
        (b"garbage", "a.pcd", "no PCD header"),
        (b"garbage", "a.las", "no readable LAS"),
        (b"garbage", "a.exr", "not a readable EXR"),
        (b"garbage", "a.npy", "not a readable numpy"),
    ],
)
def test_broken_readings_are_one_message_without_a_path(anchors: bytes, name: str, message: str) -> None:
    sent = submission(anchors, name)
    if name == "a.npy":
        sent.fields["from"] = "cloud"
    if b"range" not in anchors:
        sent.files["camera"] = Upload("", json.dumps(CAMERA).encode())
    with pytest.raises(ContractError, match=message) as caught:
        read_frame(sent, LIMITS)
    assert "/tmp" not in str(caught.value)
    assert "mrac-" not in str(caught.value)


def test_what_is_not_known_or_missing_is_named() -> None:
    with pytest.raises(ContractError, match="'methode' is not known"):
        read_frame(submission(methode="mrac"), LIMITS)
    with pytest.raises(ContractError, match="no anchors"):
        read_frame(Submission({"image": Upload("", png())}), LIMITS)
    sent = submission()
    sent.fields["from"] = "colmap"
    with pytest.raises(ContractError, match="from: 'colmap'"):
        read_frame(sent, LIMITS)
    with pytest.raises(ContractError, match="max_anchors: '-3'"):
        read_frame(submission(csv(), "a.csv", max_anchors="-3"), LIMITS)
    with pytest.raises(UnsupportedError, match=r"a\.exe"):
        read_frame(submission(b"x", "a.exe"), LIMITS)
    with pytest.raises(UnsupportedError, match="not a picture"):
        read_frame(submission(image=b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"), LIMITS)


def test_too_many_readings_are_refused() -> None:
    many = [[1.0, 1.0, 1.0]] * 51
    for content, name in ((json.dumps(many).encode(), ""), (csv(many), "a.csv"), (csv(many * 100), "a.csv")):
        with pytest.raises(TooLargeError, match=r"arrived; at most 50"):
            read_frame(submission(content, name), LIMITS)


def test_too_many_lines_are_refused_before_they_are_parsed() -> None:
    for kind in ("", "table"):
        sent = submission(b"no table\n" * 1100, "a.csv")
        sent.fields["from"] = kind
        with pytest.raises(TooLargeError, match="arrived; at most 50"):
            read_frame(sent, LIMITS)


def test_a_cut_picture_is_one_message() -> None:
    with pytest.raises(ContractError, match="not a readable image"):
        read_frame(submission(image=png()[:200]), LIMITS)

"""The .rrd file read back by rerun itself: positions, colours, words, camera, times."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mrac import Anchors, Calibrator, ContractError, MissingExtra, examples
from mrac.view import Readings, ViewFrame, save_recording, show
from tests.e2e.test_cli import mrac_here


@pytest.fixture(scope="module")
def frame() -> ViewFrame:
    room = examples.load("room")
    image, anchors = room.image[3::8, 3::8], Anchors(room.anchors.uv_px // 8, room.anchors.z_m)
    out = Calibrator("cfa_ols", gate="theil_sen_mad")(image, anchors)
    readings = Readings(
        uv_px=anchors.uv_px,
        z_m=anchors.z_m,
        keep=out.anchors.keep,
        reason=out.anchors.reason,
        outlier_probability=out.anchors.outlier_probability,
    )
    return ViewFrame(
        name="room", depth_m=out.depth_m, sigma_m=out.sigma_m, image=image, camera=room.camera.resized(80, 60),
        readings=readings, summary=("status: ok",), notes=("camera: a note",),
    )  # fmt: skip


def read_back(path: Path) -> dict[str, list[dict[str, Any]]]:
    """By entity, the rows of each, in the order of frames."""
    from rerun.chunk import RrdReader  # noqa: PLC0415

    rows: dict[str, list[dict[str, Any]]] = {}
    for chunk in RrdReader(path).stream():
        rows.setdefault(chunk.entity_path, []).extend(chunk.to_record_batch().to_pylist())
    return {name: sorted(found, key=lambda row: row.get("frame") or 0) for name, found in rows.items()}


@pytest.mark.lab  # rerun is in the extra `view`
def test_a_frame_is_in_the_file(frame: ViewFrame, tmp_path: Path) -> None:
    assert save_recording([frame], tmp_path / "new" / "a.rrd", stride=4) == 1
    found = read_back(tmp_path / "new" / "a.rrd")
    assert frame.readings is not None
    assert frame.camera is not None
    (dots,) = found["/world/camera/image/readings"]
    np.testing.assert_allclose(dots["Points2D:positions"], frame.readings.uv_px + 0.5, err_msg="rerun counts corners")
    colours = np.array(dots["Points2D:colors"], np.uint32)
    white = colours == 0xFFFFFFFF
    np.testing.assert_array_equal(white, frame.readings.keep)
    k = int(np.flatnonzero(~frame.readings.keep)[0])
    assert dots["Points2D:labels"][k].startswith(f"rejected: {frame.readings.reason[k]}; P(wrong) ")
    assert f"reads {frame.readings.z_m[k]:.2f} m, " in dots["Points2D:labels"][k]
    (points,) = found["/world/points"]
    assert np.shape(points["Points3D:positions"]) == (15 * 20, 3)
    np.testing.assert_allclose(np.array(points["Points3D:positions"])[:20, 2], frame.depth_m[0, ::4], rtol=1e-6)
    (balls,) = found["/world/readings"]
    np.testing.assert_allclose(np.array(balls["Points3D:positions"])[:, 2], frame.readings.z_m, rtol=1e-6)
    (pinhole,) = found["/world/camera"]
    matrix = np.array(pinhole["Pinhole:image_from_camera"]).reshape(3, 3).T  # by columns
    expected = frame.camera.matrix + np.array([[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0]])
    np.testing.assert_allclose(matrix, expected, rtol=1e-6)
    (depth,) = found["/depth"]
    stored = np.frombuffer(bytes(depth["DepthImage:buffer"][0]), "<f4").reshape(60, 80)
    np.testing.assert_array_equal(stored, frame.depth_m)
    assert found["/sigma"][0]["DepthImage:meter"] == [1.0]
    assert found["/world/camera/image"][0]["EncodedImage:media_type"] == ["image/jpeg"]
    (words,) = found["/summary"]
    assert words["TextDocument:text"][0].startswith("## room\n- status: ok\n- readings: ")
    assert "*camera: a note*" in words["TextDocument:text"][0]
    assert not list((tmp_path / "new").glob(".*")), "no part of it is left"


@pytest.mark.lab
def test_many_frames_have_times_and_leave_nothing_behind(frame: ViewFrame, tmp_path: Path) -> None:
    bare = ViewFrame(name="bare", depth_m=frame.depth_m, time_ns=2_000_000_007)
    save_recording(iter([replace(frame, time_ns=1_000_000_000), bare]), tmp_path / "a.rrd")
    found = read_back(tmp_path / "a.rrd")
    assert [row["frame"] for row in found["/depth"]] == [0, 1]
    assert [row["time"].value for row in found["/depth"]] == [1_000_000_000, 2_000_000_007]
    for entity in ("sigma", "world/points", "world/readings", "world/camera", "world/camera/image"):
        assert any("Clear:is_recursive" in row for row in found[f"/{entity}"]), entity
    verified = subprocess.run([sys.executable, "-m", "rerun", "rrd", "verify", tmp_path / "a.rrd"], check=False)
    assert verified.returncode == 0


@pytest.mark.lab
def test_the_command_writes_a_file(frame: ViewFrame, tmp_path: Path) -> None:
    assert frame.sigma_m is not None
    np.savez(tmp_path / "a.npz", depth_m=frame.depth_m, sigma_m=frame.sigma_m)
    done = mrac_here("view", tmp_path / "a.npz", "--save", tmp_path / "a.rrd")
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "1 frame")
    assert "mrac: a: camera: none is known, so there are no points in space; --camera FILE shows them" in done.stderr
    assert (tmp_path / "a.rrd").is_file()
    quiet = mrac_here("view", tmp_path / "a.npz", "--save", tmp_path / "b.rrd", "-q")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


@pytest.mark.lab
def test_the_viewer_listens_on_loopback_alone(frame: ViewFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []

    def run(words: list[str], check: bool) -> SimpleNamespace:
        assert Path(words[-1]).is_file()
        calls.append(words)
        return SimpleNamespace(returncode=len(calls) - 1)

    monkeypatch.setattr("mrac.view.rerun_log.subprocess.run", run)
    assert show([frame]) == 1
    assert calls[0][1:5] == ["-m", "rerun", "--bind", "127.0.0.1"]
    assert not Path(calls[0][-1]).exists()
    with pytest.raises(ContractError, match=r"ended with code 1; without a screen, --save FILE\.rrd"):
        show([frame])


@pytest.mark.lab
def test_a_failure_leaves_no_file(frame: ViewFrame, tmp_path: Path) -> None:
    def broken() -> Any:
        yield frame
        raise ContractError("broken")

    (tmp_path / "a.rrd").write_text("before", encoding="utf-8")
    with pytest.raises(ContractError, match="broken"):
        save_recording(broken(), tmp_path / "a.rrd")
    assert [one.name for one in tmp_path.iterdir()] == ["a.rrd"]
    assert (tmp_path / "a.rrd").read_text(encoding="utf-8") == "before"


def test_what_is_missing_or_misnamed_is_told(frame: ViewFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ContractError, match=r"ends in '\.bag'; \.rrd is needed"):
        save_recording([frame], tmp_path / "a.bag")
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(MissingExtra, match=r"mrac-depth\[view\]"):
        save_recording([frame], tmp_path / "a.rrd")
    done = mrac_here("view", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"mrac: view: {tmp_path}: no result in it; ")
    assert done.stderr.count("\n") == 1

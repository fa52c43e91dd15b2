"""`mrac calibrate` of a video, decoded by PyAV."""

import json
from pathlib import Path

import pytest

from tests.e2e.test_cli import mrac_here
from tests.e2e.test_cli_many import PLAIN, depths
from tests.mrac.io.test_video import made_frames, write_video

pytest.importorskip("av")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_video(tmp_path / "walk.mkv", made_frames(6))
    rows = [f"{i},{u},5,{i + 1}" for i in (0, 2, 5) for u in (3, 20, 50)]
    (tmp_path / "readings.csv").write_text("\n".join(["frame,u,v,z", *rows]))
    (tmp_path / "one.csv").write_text("u,v,z\n3,3,2.5\n9,9,2.5\n")
    (tmp_path / "each").mkdir()
    for i in (1, 3):
        (tmp_path / "each" / f"{i:04d}.csv").write_text(f"u,v,z\n3,3,{i}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("anchors", "expected"),
    [
        ("readings.csv", {"000000": 1.0, "000002": 3.0, "000005": 6.0}),
        ("each", {"000001": 1.0, "000003": 3.0}),
        ("one.csv", {f"{i:06d}": 2.5 for i in range(6)}),
    ],
)
def test_the_frames_that_have_readings(home: Path, anchors: str, expected: dict[str, float]) -> None:
    command = ("calibrate", "walk.mkv", "--anchors", anchors, *PLAIN, "--json", "--out", "out")
    done = mrac_here(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert depths(home / "out") == expected
    assert [json.loads(line)["frame"] for line in done.stdout.splitlines()] == list(expected)
    again = mrac_here(*command)
    assert all(json.loads(line)["skipped"] for line in again.stdout.splitlines())


def test_no_readings_for_any_frame_and_no_video_are_named(home: Path) -> None:
    (home / "readings.csv").write_text("frame,u,v,z\n99,3,3,1\n")
    done = mrac_here("calibrate", "walk.mkv", "--anchors", "readings.csv", *PLAIN, "--out", "out")
    assert done.returncode == 2
    assert "no readings for any frame of walk.mkv; files are named by the number of their frame" in done.stderr
    (home / "bad.mp4").write_bytes(b"nothing")
    done = mrac_here("calibrate", "bad.mp4", "--anchors", "one.csv", *PLAIN, "--out", "out")
    assert "bad.mp4: not a readable video" in done.stderr
    done = mrac_here("calibrate", "walk.mkv", "bad.mp4", "--anchors", "one.csv", *PLAIN, "--out", "out")
    assert "a video is calibrated by itself" in done.stderr


def test_a_video_that_was_cut_short_gives_the_frames_before(home: Path) -> None:
    content = (home / "walk.mkv").read_bytes()
    (home / "cut.mkv").write_bytes(content[: len(content) // 2] + bytes(200))
    done = mrac_here("calibrate", "cut.mkv", "--anchors", "one.csv", *PLAIN, "--out", "out")
    found = depths(home / "out")
    assert 1 <= len(found) < 6
    assert set(found.values()) == {2.5}
    assert done.returncode in (0, 2), "decoders differ in whether they call a missing end an error"

"""`mrac calibrate` of many frames: folders, patterns, tables, videos, failures, kills, and what is shown."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.e2e.test_cli import mrac_here

NUM = 4
PLAIN = ("--foundation", "none", "--gate", "none", "--head", "nearest")  # fast: what is tested is all around it


def picture(i: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.full((20 + i, 30, 3), 40 * i % 255, np.uint8)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Images frames/f0.png ... and readings/f0.csv ... of i + 1 metres; the working directory."""
    monkeypatch.chdir(tmp_path)
    make(tmp_path, NUM)
    return tmp_path


def make(home: Path, num: int) -> None:
    for name in ("frames", "readings"):
        (home / name).mkdir()
    for i in range(num):
        Image.fromarray(picture(i % 9)).save(home / "frames" / f"f{i}.png")
        (home / "readings" / f"f{i}.csv").write_text(f"u,v,z\n3,4,{i + 1}\n20,10,{i + 1}\n9,9,{i + 1}\n")


def depths(out: Path) -> dict[str, float]:
    """The depth of every frame's result; one number, since all its readings are one."""
    found = {}
    for file in sorted(out.glob("*/depth.npz")) or sorted(out.glob("*.npz")):
        with np.load(file) as maps:
            assert np.ptp(maps["depth_m"]) < 1e-4
            found[file.parent.name if file.name == "depth.npz" else file.stem] = round(float(maps["depth_m"][0, 0]), 3)
    return found


EACH = {f"f{i}": i + 1.0 for i in range(NUM)}


def test_a_folder_gives_a_folder_for_each_image(home: Path) -> None:
    done = mrac_here("calibrate", "frames", "--anchors", "readings", *PLAIN, "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert depths(home / "out") == EACH
    assert {path.name for path in (home / "out" / "f0").iterdir()} == {
        "depth.npz", "depth.png", "preview.png", "report.json",
    }  # fmt: skip
    assert json.loads((home / "out" / "f2" / "report.json").read_text())["inputs"]["anchors_path"] == "readings/f2.csv"
    words = " ".join(done.stdout.replace("│", " ").split())
    for expected in ("frames 4 done", "status 4 ok", "anchors 12 kept", "warnings none", "frames/s"):
        assert expected in words
    alone = mrac_here("calibrate", "frames/f1.png", "--anchors", "readings/f1.csv", *PLAIN, "--out", "alone")
    assert alone.returncode == 0
    for name in ("depth.npz", "depth.png", "preview.png"):
        assert (home / "out" / "f1" / name).read_bytes() == (home / "alone" / name).read_bytes()


@pytest.mark.parametrize(
    ("images", "anchors"),
    [
        (["frames/*.png"], "readings/*.csv"),
        ([f"frames/f{i}.png" for i in range(NUM)], "readings"),
        (["frames"], "table.csv"),
        (["frames"], "table.npz"),
    ],
)
def test_patterns_names_and_a_table_of_all_frames(home: Path, images: list[str], anchors: str) -> None:
    rows = [(f"f{i}", u, 4, i + 1) for u in (3, 20, 9) for i in range(NUM)]
    (home / "table.csv").write_text("\n".join(["frame,u,v,z", *(f"{n},{u},{v},{z}" for n, u, v, z in rows)]))
    names, u, v, z = zip(*rows, strict=True)
    np.savez(home / "table.npz", frame=np.array(names), uv_px=np.stack([u, v], 1), z_m=np.array(z, float))
    done = mrac_here("calibrate", *images, "--anchors", anchors, *PLAIN, "--save", ".npz", "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert depths(home / "out") == EACH
    assert {path.name for path in (home / "out").iterdir()} == {*(f"{name}.npz" for name in EACH), "manifest.jsonl"}


def test_options_of_the_source_apply_to_each_and_other_files_match_too(home: Path) -> None:
    (home / "relative").mkdir()
    for i in range(NUM):
        depth_m = np.tile(np.linspace(1, 2, 30), (20 + i % 9, 1))
        np.save(home / "relative" / f"f{i}.npy", 1 / depth_m)
        readings = [f"{u},{v},{100 * (i + 1) * depth_m[v, u]:.6f}" for u, v in ((3, 4), (20, 10), (9, 9), (28, 2))]
        (home / "readings" / f"f{i}.csv").write_text("\n".join(["u,v,z", *readings]))
    done = mrac_here(
        "calibrate", "frames", "--anchors", "readings", "--anchors-scale", "100", "--relative", "relative",
        "--gate", "none", "--fit", "ols", "--head", "affine",
        "--space", "inverse_depth", "--save", ".npz", "--save", ".png", "--out", "out",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    with np.load(home / "out" / "f3.npz") as maps:
        np.testing.assert_allclose(maps["depth_m"], 4 * np.tile(np.linspace(1, 2, 30), (23, 1)), rtol=1e-3)
    assert (home / "out" / "f3.png").is_file()


def test_what_does_not_match_is_listed_before_anything_is_done(home: Path) -> None:
    (home / "readings" / "f1.csv").rename(home / "readings" / "g1.csv")
    done = mrac_here("calibrate", "frames", "--anchors", "readings", *PLAIN, "--out", "out")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "1 of 4 frames have no file of their stem: f1, and no image for g1.csv" in done.stderr
    assert not (home / "out").exists()
    done = mrac_here("calibrate", "frames/f0.png", "--anchors", "readings/f0.csv", "readings/g1.csv", "--out", "out")
    assert "readings/g1.csv is no image; quote a pattern of readings: --anchors 'folder/*.csv'" in done.stderr
    (home / "readings" / "g1.csv").rename(home / "readings" / "f1.csv")
    done = mrac_here("calibrate", "frames", "--anchors", "readings", "--save", "a.npz", "--out", "out")
    assert "--save a.npz: of many frames it is one of .npz" in done.stderr
    done = mrac_here("calibrate", "frames", "--anchors", "frames", *PLAIN, "--out", "out")
    assert "--anchors frames: no files in it" in done.stderr


def test_a_frame_that_fails_is_named_and_the_others_are_done(home: Path) -> None:
    (home / "frames" / "f1.png").write_bytes(b"not a picture")
    (home / "readings" / "f2.csv").write_text("u,v,z\n900,900,1\n")
    done = mrac_here("calibrate", "frames", "--anchors", "readings", *PLAIN, "--json", "--out", "out")
    assert done.returncode == 2
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["frame"] for line in lines] == list(EACH)
    assert ["error" in line for line in lines] == [False, True, True, False]
    assert (lines[3]["status"], lines[3]["kept"], lines[3]["depth_m"]) == ("ok", 3, [4.0, 4.0])
    assert re.findall(r"^mrac: (f\d): ", done.stderr, re.MULTILINE) == ["f1", "f2"]
    assert depths(home / "out") == {"f0": 1.0, "f3": 4.0}
    Image.fromarray(picture(1)).save(home / "frames" / "f1.png")
    (home / "readings" / "f2.csv").write_text("u,v,z\n9,9,3\n")
    done = mrac_here("calibrate", "frames", "--anchors", "readings", *PLAIN, "--out", "out")
    assert done.returncode == 0
    assert "2 done, 2 finished before" in done.stdout or "2 finished before, 2 done" in done.stdout
    assert depths(home / "out") == EACH


def test_a_second_run_does_what_changed_and_nothing_else(home: Path) -> None:
    command = ("calibrate", "frames", "--anchors", "readings", *PLAIN, "--json", "--out", "out")
    assert mrac_here(*command).returncode == 0
    stamps = {name: (home / "out" / name / "report.json").stat().st_mtime_ns for name in EACH}
    (home / "readings" / "f2.csv").write_text("u,v,z\n3,4,7.5\n")
    lines = [json.loads(line) for line in mrac_here(*command).stdout.splitlines()]
    assert [line.get("skipped", False) for line in lines] == [True, True, False, True]
    assert depths(home / "out") == {**EACH, "f2": 7.5}
    again = {name: (home / "out" / name / "report.json").stat().st_mtime_ns for name in EACH}
    assert [name for name in EACH if stamps[name] != again[name]] == ["f2"]
    done = mrac_here(*command, "--fit", "huber")
    assert (done.returncode, done.stdout) == (2, "")
    assert "other options (fit was None, now 'huber')" in done.stderr
    done = mrac_here(*command, "--fit", "huber", "--restart")
    assert ["skipped" in json.loads(line) for line in done.stdout.splitlines()] == [False] * NUM


def test_a_kill_halfway_loses_and_doubles_nothing(tmp_path: Path) -> None:
    make(tmp_path, num := 24)
    command = [sys.executable, "-m", "mrac", "calibrate", "frames", "--anchors", "readings", *PLAIN, "--json", "--out"]
    with subprocess.Popen([*command, "out"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        shown = [json.loads(process.stdout.readline())["frame"] for _ in range(5)]
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    finished = list((tmp_path / "out").glob("f*/report.json"))
    assert 5 <= len(finished) < num, "it was killed halfway"
    stamps = {file: file.stat().st_mtime_ns for file in finished if file.parent.name in shown}
    assert len(stamps) == 5
    done = subprocess.run([*command, "out"], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["frame"] for line in lines] == [f"f{i}" for i in range(num)]
    assert {line["frame"] for line in lines if "skipped" in line} >= set(shown)
    assert all(file.stat().st_mtime_ns == stamp for file, stamp in stamps.items()), "what was finished is left alone"
    names = [json.loads(line).get("frame") for line in (tmp_path / "out" / "manifest.jsonl").read_text().splitlines()]
    assert sorted(map(str, names)) == sorted(["None", *(f"f{i}" for i in range(num))])
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"manifest.jsonl", *(f"f{i}" for i in range(num))}
    assert depths(tmp_path / "out") == {f"f{i}": i + 1.0 for i in range(num)}


def test_the_bar_is_shown_on_a_terminal_alone(home: Path) -> None:
    command = [sys.executable, "-m", "mrac", "calibrate", "frames", "--anchors", "readings", *PLAIN, "--out"]
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": "80", "TERM": "xterm"}
    with subprocess.Popen([*command, "out"], stderr=theirs, stdout=subprocess.PIPE, env=environment) as process:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 4096):
                seen += chunk
        except OSError:  # how Linux says that the other end is closed
            pass
        assert process.stdout is not None
        table = process.stdout.read().decode()
    os.close(ours)
    assert process.returncode == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert "━━" in plain
    assert f"{NUM}/{NUM}" in plain
    assert "frames/s" in plain
    assert max(map(len, re.split(r"[\r\n]+", plain))) <= 80
    assert "4 done" in table
    assert "━━" not in mrac_here(*command[3:], "other").stderr

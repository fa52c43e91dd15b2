import json
import subprocess
import sys
from pathlib import Path

from tests.mrac.batch_jobs.frames import write_frames

CHOICE = ("--method", "cfa_ols", "--foundation", "none", "--head", "nearest")


def mrac(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mrac", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_frames_that_fail_are_named_and_the_others_are_done(tmp_path: Path) -> None:
    frames, out = write_frames(tmp_path / "frames", 4), tmp_path / "out"
    (frames / "f001.png").write_bytes(b"no image")
    (frames / "f002.csv").unlink()
    first = mrac("batch", frames, "--out", out, "--workers", "2", *CHOICE)
    assert first.returncode == 2
    assert "f001: " in first.stderr
    assert "not a readable image" in first.stderr
    assert "no readings of the same stem" in first.stderr
    assert "2 of 4 frames failed" in first.stderr
    assert "4/4" in first.stderr  # the bar
    assert "computed" in first.stdout
    assert sorted(path.name for path in out.iterdir()) == ["f000.npz", "f003.npz", "manifest.jsonl"]

    for name in ("f001.png", "f001.csv", "f002.png"):
        (frames / name).unlink()
    second = mrac("batch", frames, "--out", out, "--json", *CHOICE)
    assert second.returncode == 0
    assert second.stderr == ""
    assert json.loads(second.stdout)["actions"] == {"kept": 2}


def test_a_mistake_in_the_call_is_one_line(tmp_path: Path) -> None:
    for words, told in (
        ((tmp_path / "none",), "no such file or folder"),
        ((write_frames(tmp_path / "frames", 1), "--gpus-per-worker", "1"), "--executor ray"),
        ((tmp_path / "frames", "--method", "nothing"), "there is no 'nothing'"),
    ):
        done = mrac("batch", *words, "--out", tmp_path / "out")
        assert done.returncode == 2
        assert told in done.stderr
        assert done.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists()

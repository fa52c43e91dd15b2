"""The cache of predictions as a person meets it on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest
from PIL import Image

from tests.contract.test_foundation import picture, write_network
from tests.e2e.test_cli import mrac, mrac_here


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MRAC_CACHE", str(tmp_path / "kept"))
    write_network(tmp_path / "net.onnx")
    Image.fromarray(picture()).save(tmp_path / "photo.png")
    rng = np.random.default_rng(0)
    rows = [f"{u},{v},{1 + v / 20:.3f}" for u, v in rng.integers(0, 48, (20, 2))]
    (tmp_path / "anchors.csv").write_text("\n".join(["u,v,z", *rows]))
    return tmp_path


def calibrate(scene: Path, *more: str, run: Callable[..., CompletedProcess[str]] = mrac_here) -> tuple[str, str]:
    """What it says on the screen, and what the report says of the cache."""
    done = run(
        "calibrate", scene / "photo.png", "--anchors", scene / "anchors.csv",
        "--foundation", f"onnx:{scene / 'net.onnx'}", "--out", scene / "out", *more,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr, json.loads((scene / "out" / "report.json").read_text())["cache"]


def test_the_second_run_reads_what_the_first_kept(scene: Path) -> None:
    says, use = calibrate(scene)
    assert use == "miss"
    assert "cache" not in says
    first = (scene / "out" / "depth.npz").read_bytes()
    says, use = calibrate(scene)
    assert use == "hit"
    assert "relative depth from the cache" in says
    assert (scene / "out" / "depth.npz").read_bytes() == first
    assert calibrate(scene, "--no-cache")[1] == "off"

    about = mrac_here("cache", "info")
    assert about.returncode == 0
    assert f"{scene / 'kept'}: 1 predictions" in about.stdout
    assert "of at most 2.0 GiB" in about.stdout
    assert "1 predictions deleted" in mrac_here("cache", "clear").stdout
    assert "0 predictions, 0 bytes" in mrac_here("cache", "info").stdout
    assert calibrate(scene)[1] == "miss"


def test_another_network_of_the_same_name_is_not_taken_for_it(scene: Path) -> None:
    assert calibrate(scene)[1] == "miss"
    card = json.loads((scene / "net.json").read_text())
    (scene / "net.json").write_text(json.dumps(card | {"mean": [0.5, 0.5, 0.5]}))
    assert calibrate(scene)[1] == "miss"


def test_off_keeps_nothing(scene: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert calibrate(scene, "--no-cache")[1] == "off"
    monkeypatch.setenv("MRAC_CACHE", "off")
    assert calibrate(scene)[1] == "off"
    assert not (scene / "kept").exists()
    for word in ("info", "clear"):
        done = mrac_here("cache", word)
        assert done.returncode == 0
        assert "The cache is off" in done.stdout


def test_a_cache_that_cannot_be_written_is_one_line_and_an_answer(scene: Path) -> None:
    (scene / "kept").write_text("a file where a folder should be")
    says, use = calibrate(scene, run=mrac)  # a process of its own: it is Python's logging that shows the line
    assert use == "miss"
    assert says.count("mrac: cannot read the prediction cache") == 1
    assert len(says.splitlines()) == 2


def test_wrong_words_are_one_line(scene: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mrac_here("cache", "burn").returncode == 2
    assert "mrac cache info" in mrac_here("cache").stderr
    monkeypatch.setenv("MRAC_CACHE_GIB", "many")
    done = mrac_here("cache", "info")
    assert done.returncode == 2
    assert done.stderr.strip() == "mrac: MRAC_CACHE_GIB: 'many' arrived; a number of GiB from 0 to 1000000 is needed"

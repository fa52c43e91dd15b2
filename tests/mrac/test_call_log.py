"""What a call logs under the logger `mrac`, and that the library itself is silent."""

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac import Anchors, Calibrator, RelativeDepth, examples
from mrac.anchors.csv import write
from tests.conftest import MadeScene
from tests.e2e.test_cli import mrac_here


def test_a_call_says_what_was_decided(caplog: pytest.LogCaptureFixture) -> None:
    frame = examples.load("room")
    with caplog.at_level(logging.DEBUG, "mrac"):
        Calibrator()(frame.image, frame.anchors)
    info = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert any("ok: 640×480, kept 45 of 60 readings, " in line and "×" in line for line in info)
    debug = " ".join(record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG)
    assert "consensus_learned" in debug
    assert "gate " in debug
    assert {record.name for record in caplog.records} == {"mrac.pipeline"}


def test_a_fallback_and_a_mistake_are_named(
    caplog: pytest.LogCaptureFixture, make_scene: Callable[..., MadeScene]
) -> None:
    scene = make_scene(100, space="log_depth")
    noise = np.random.default_rng(0).normal(size=scene.image.shape[:2])
    with caplog.at_level(logging.INFO, "mrac"):
        out = Calibrator()(scene.image, scene.anchors, RelativeDepth(noise, "log_depth"))
    assert out.status == "foundation_disagrees"
    assert "the relative depth of given is not used: the readings contradict it" in caplog.text
    for finding in out.warnings:
        assert finding.advice in caplog.text


def test_the_library_writes_nothing_unasked() -> None:
    code = (
        "import logging, numpy as np; from mrac import Anchors, Calibrator\n"
        "logging.getLogger('mrac.pipeline').warning('not to be seen')\n"
        "Calibrator(foundation='none')(np.zeros((8, 8, 3), np.uint8), Anchors([[1, 1], [5, 5], [3, 6]], [1, 2, 3]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_the_command_line_shows_it_when_asked(tmp_path: Path) -> None:
    frame = examples.load("street")
    Image.fromarray(frame.image[::8, ::8]).save(tmp_path / "a.png")
    write(tmp_path / "a.csv", Anchors(frame.anchors.uv_px // 8, frame.anchors.z_m))
    words: list[str | Path] = [
        "calibrate",
        tmp_path / "a.png",
        "--anchors",
        tmp_path / "a.csv",
        "--out",
        tmp_path / "out",
        "-q",
    ]
    quiet, more, most = (mrac_here(*level, *words) for level in ((), ("-v",), ("-vv",)))
    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert "mrac.pipeline: ok: 80×60, kept " in more.stderr
    assert "ms: foundation" not in more.stderr
    assert "mrac.pipeline: ms: foundation" in most.stderr
    assert logging.getLogger("mrac").level == logging.NOTSET

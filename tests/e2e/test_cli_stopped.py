"""A command that is stopped says so in one line and ends at once, even inside compiled code or among its workers."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac.cli.printable import printable

# Minutes inside one call of C, during which Python cannot run a handler; a thread that it would wait for at its end.
STUCK = """
import hashlib, sys, threading
import click
from mrac import cli

@click.command()
def stuck():
    threading.Thread(target=lambda: hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)).start()
    print("started", flush=True)
    if "{where}" == "kernel":
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
    while True:
        threading.Event().wait(60)

cli._Lazy.get_command = lambda *_: stuck
sys.argv = ["mrac", "stuck"]
cli.main()
"""


@pytest.mark.parametrize("where", ["kernel", "python"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_busy_command_ends_within_its_grace(where: str, number: signal.Signals, code: int) -> None:
    """It would go on for minutes: before, it ended with a traceback, or when the kernel and all threads were done."""
    command = [sys.executable, "-c", STUCK.format(where=where)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(number)
        try:
            _, shown = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, shown.strip()) == (code, "mrac: stopped")


def test_a_signal_while_modules_are_imported_shows_no_traceback(tmp_path: Path) -> None:
    """The command starts by importing for a second; a module that raises the signal itself is one moment of that."""
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "a.png")
    (tmp_path / "a.csv").write_text("u,v,z\n1,1,1\n")
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.abc, os, signal, sys\n"
        "class Stop(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'mrac.pipeline': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Stop())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-m", "mrac", "calibrate", "a.png", "--anchors", "a.csv", "--out", "o"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "mrac: stopped")


def test_control_characters_in_names_are_not_sent_to_the_terminal(tmp_path: Path) -> None:
    name = "\x1b]0;owned\x07\x1b[31mred\u202e.png"
    done = subprocess.run(
        [sys.executable, "-m", "mrac", "calibrate", name, "--anchors", "a.csv", "--out", "o"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", done.stdout + done.stderr)
    assert r"\x1b[31mred" in done.stderr
    assert json.loads(json.dumps(printable("grün\t"))) == r"grün\t"


@pytest.mark.parametrize("which", ["image", "anchors", "out"])
def test_a_link_that_leads_to_itself_is_one_line(which: str, tmp_path: Path) -> None:
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "a.png")
    (tmp_path / "a.csv").write_text("u,v,z\n1,1,1\n")
    (tmp_path / "loop.png").symlink_to("loop.png")
    image, anchors, out = ("loop.png" if which == name else good for name, good in GOOD.items())
    words = ["calibrate", image, "--anchors", anchors, "--out", out, "--foundation", "none"]
    done = subprocess.run(
        [sys.executable, "-m", "mrac", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("mrac: ")
    assert done.stderr.count("\n") == 1
    assert "loop.png" in done.stderr


GOOD = {"image": "a.png", "anchors": "a.csv", "out": "o"}


def test_a_closed_pipe_ends_a_command_without_a_word() -> None:
    """As of `mrac list methods | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mrac", "list"], stdout=writing, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full, which is a full disk")
def test_a_full_disk_behind_the_standard_output_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mrac", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No space left" in done.stderr

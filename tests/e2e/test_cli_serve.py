"""`mrac serve` as a person starts and stops it: a process, its lines, its exit code."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mrac.listening import listening
from mrac.serve.settings import read_token
from tests.e2e.test_cli import mrac_here


@contextmanager
def serving(*options: str) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """The process, its address, and its lines up to `ready`."""
    command = [sys.executable, "-m", "mrac", "serve", "--port", "0", "--method", "nearest", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"MRAC_TOKEN": ""}) as process:
        assert process.stderr is not None
        lines = []
        try:
            for line in process.stderr:
                lines.append(line.rstrip())
                if line.rstrip().endswith("ready"):
                    break
            found = re.search(r"listening on http://[^:]*:(\d+),", "\n".join(lines))
            assert found, lines
            yield process, f"http://127.0.0.1:{found[1]}", lines
        finally:
            process.kill()


@pytest.mark.parametrize(("kind", "options"), [(signal.SIGTERM, ()), (signal.SIGINT, ("--host", "0.0.0.0"))])
def test_it_serves_until_a_signal_and_ends_in_one_line(kind: signal.Signals, options: tuple[str, ...]) -> None:
    with serving(*options) as (process, url, lines):
        with urllib.request.urlopen(f"{url}/ready") as answer:
            assert json.load(answer) == {"status": "ready"}
        if options:
            assert "WARNING mrac.serve: listening on 0.0.0.0 without a token" in lines.pop(0)
        assert len(lines) == 2
        assert f"listening on http://{'0.0.0.0' if options else '127.0.0.1'}:" in lines[0]
        process.send_signal(kind)
        _, rest = process.communicate(timeout=30)
        assert process.returncode == 0
        assert rest.strip().endswith(f"INFO mrac.serve: stopped by {kind.name}")
        assert len(rest.strip().splitlines()) == 1


def test_the_token_is_a_file_s_or_the_environment_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MRAC_TOKEN", raising=False)
    assert read_token(None) == ""
    monkeypatch.setenv("MRAC_TOKEN", "correct-horse-battery\n")
    assert read_token(None) == "correct-horse-battery"
    (tmp_path / "token").write_text("another-horse-battery\n")
    assert read_token(tmp_path / "token") == "another-horse-battery"


def test_mistakes_are_one_line_and_code_2(tmp_path: Path) -> None:
    with listening("127.0.0.1", 0, "test") as taken:
        port = str(taken.getsockname()[1])
        done = mrac_here("serve", "--port", port)
        assert done.returncode == 2
        assert f"serve: 127.0.0.1:{port} cannot be listened on" in done.stderr
    (tmp_path / "empty").write_text("")
    for words, message in (
        (("--method", "nope"), "method: there is no 'nope'"),
        (("--token-file", str(tmp_path / "none")), "cannot be read"),
        (("--token-file", str(tmp_path / "empty")), "is empty"),
        (("--max-pixels", "0"), "x>0"),
    ):
        done = mrac_here("serve", *words)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_help_shows_examples() -> None:
    done = mrac_here("serve", "--help")
    assert "curl -F image=@a.jpg" in done.stdout
    assert "--token " not in done.stdout  # a secret on the command line is everybody's

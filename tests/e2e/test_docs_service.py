"""Every block of docs/service.md runs as printed, on the demo's photograph; ports are free ones."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mrac import Calibrator
from mrac.anchors.csv import write
from mrac.demo import motorcycle
from mrac.examples import Example
from mrac.http import Limits, Offer
from mrac.http.frame import FIELDS
from mrac.http.submission import FILES
from mrac.io.files import read_png16
from mrac.serve import Settings
from tests.mrac.serve.running import Running, served

PAGE = Path(__file__).parents[2] / "docs" / "service.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [code for word, code in BLOCK.findall(TEXT) if word == kind]


@pytest.fixture(scope="module")
def scene() -> Example:
    return motorcycle()


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with served(Settings()) as one:
        yield one


@pytest.fixture
def folder(tmp_path: Path, scene: Example) -> Path:
    Image.fromarray(scene.image).save(tmp_path / "image.png")
    write(tmp_path / "anchors.csv", scene.anchors)
    return tmp_path


@contextmanager
def started(command: str, folder: Path) -> Iterator[int]:
    """A command of the page that serves, at a free port."""
    words = [sys.executable, "-m", *shlex.split(re.sub(r"--port \d+", "--port 0", command)), "--method", "nearest"]
    environment = os.environ | {"MRAC_TOKEN": ""}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if found := re.search(r"listening on http://[^:]*:(\d+),", line):
                    port = int(found[1])
                if line.rstrip().endswith("ready"):
                    break
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield port
        finally:
            process.terminate()
            process.wait(60)


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_curl_line_gives_the_library_s_depth(running: Running, folder: Path, scene: Example) -> None:
    (line,) = [code for code in blocks("sh") if "-F image" in code]
    subprocess.run(line.replace(":8000", f":{running.port}"), shell=True, check=True, cwd=folder)
    own = Calibrator()(scene.image, scene.anchors).save(folder / "own.png")
    assert np.array_equal(read_png16(folder / "depth.png")[0], read_png16(own)[0])


def test_the_client_in_ten_lines_gives_the_library_s_depth(
    running: Running,
    folder: Path,
    scene: Example,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    client = blocks("python")[0]
    lines = [line for line in client.splitlines() if line and not line.startswith("import")]
    assert len(lines) <= 10
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    exec(client.replace(":8000", f":{running.port}"), names)
    own = Calibrator()(scene.image, scene.anchors)
    assert np.array_equal(np.asarray(names["depth_m"]), own.depth_m)
    assert np.array_equal(np.asarray(names["sigma_m"]), own.sigma_m)
    assert capsys.readouterr().out == f"ok (500, 741) {own.anchors.keep.sum()} anchors kept\n"


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.lab  # starts two servers
def test_the_commands_that_serve_do(folder: Path) -> None:
    plain, _, token, ask = blocks("sh")
    with started(plain, folder) as port:
        subprocess.run(["curl", "-sf", f"http://localhost:{port}/docs"], check=True, capture_output=True)
    make, serve = token.strip().splitlines()
    subprocess.run(make.replace("python", shlex.quote(sys.executable)), shell=True, check=True, cwd=folder)
    with started(serve, folder) as port:
        asked = ask.replace(":8001", f":{port}")
        done = subprocess.run(asked, shell=True, check=True, cwd=folder, capture_output=True, text=True)
        assert json.loads(done.stdout)["default"] == "nearest"
        bare = subprocess.run(["curl", "-sf", f"http://localhost:{port}/v1/methods"], check=False)
        assert bare.returncode != 0


def test_the_application_of_one_s_own_is_made() -> None:
    names: dict[str, object] = {}
    exec(blocks("python")[1], names)
    assert type(names["app"]).__name__ == "FastAPI"


@pytest.mark.lab
def test_the_ray_application_is_made() -> None:
    pytest.importorskip("ray.serve")
    names: dict[str, object] = {}
    exec(blocks("python")[2], names)
    assert type(names["app"]).__name__ == "Application"


def test_nothing_printed_was_left_out_here() -> None:
    assert len(blocks("python")) == 3
    assert len(blocks("sh")) == 4
    assert [word for word, _ in BLOCK.findall(TEXT) if word not in ("sh", "python")] == ["text"]


def test_the_tables_state_the_defaults_and_every_part() -> None:
    limits = Limits()
    assert f"| `--max-body` | {limits.body_bytes // 2**20} MiB |" in TEXT
    assert f"| `--max-pixels` | {limits.pixels // 10**6} million |" in TEXT
    assert f"| `--max-anchors` | {limits.anchors:,} |" in TEXT
    assert f"| `--max-seconds` | {limits.seconds:g} |" in TEXT
    assert f"| `--max-waiting` | {Settings().waiting} |" in TEXT
    assert Offer().method == "default"
    for name in (*FILES, *FIELDS):
        assert f"`{name}`" in TEXT, name


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]*)\)", TEXT):
        assert (PAGE.parent / target).exists(), target

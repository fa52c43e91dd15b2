"""The user's foundations from the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


def mrac(home: Path, *words: str | Path, columns: int = 80) -> subprocess.CompletedProcess[str]:
    """The command with an empty hub cache, as on a machine that never fetched anything."""
    places = {"HF_HOME": str(home / "hub"), "XDG_CACHE_HOME": str(home / "cache")}
    environment = {**os.environ, **places, "COLUMNS": str(columns)}
    command = [sys.executable, "-m", "mrac", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture
def job(tmp_path: Path) -> list[str]:
    pixels = np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    (tmp_path / "a.csv").write_text("u,v,z\n10,10,1\n70,20,2\n40,50,1.5\n20,40,3\n")
    files = [tmp_path / "a.png", "--anchors", tmp_path / "a.csv", "--out", tmp_path / "out"]
    return ["calibrate", *map(str, files)]


@pytest.mark.lab
@pytest.mark.parametrize(
    "name", ["dav2-small-torch", "dav2-large", "dpt-large", "depth-pro", "marigold", "da3-mono", "moge-2"]
)
def test_weights_that_are_not_here_are_one_line_with_the_command(name: str, job: list[str], tmp_path: Path) -> None:
    done = mrac(tmp_path, *job, "--foundation", name)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "Fetch it with: hf download " in done.stderr


def test_the_small_network_needs_no_torch_but_its_weights(job: list[str], tmp_path: Path) -> None:
    for choice in (["--foundation", "dav2-small"], ["--method", "open"]):
        done = mrac(tmp_path, *job, *choice)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
        assert "Fetch them with: mrac fetch dav2-small. Without a network: copy " in done.stderr


@pytest.mark.lab
def test_a_folder_of_one_s_own(job: list[str], tmp_path: Path) -> None:
    from tests.networks import toys  # noqa: PLC0415  (imports torch)

    toys.save(toys.dpt(), tmp_path / "toy")
    done = mrac(tmp_path, *job, "--foundation", f"hf:{tmp_path / 'toy'}")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["stages"]["foundation"] == "hf"
    assert report["space"] == "inverse_depth"


def test_the_list_shows_licences_within_80_columns(tmp_path: Path) -> None:
    done = mrac(tmp_path, "list", "foundations")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    (large,) = (line for line in lines if line.startswith("dav2-large"))
    assert large.split() == ["dav2-large", "inverse_depth", "335", "M", "CC-BY-NC-4.0", "non-commercial"]
    (beit,) = (line for line in lines if line.startswith("dpt-beit-large-512"))
    assert "saw NYU, KITTI" in beit


@pytest.mark.lab  # without them there is nothing that it could import
def test_the_list_imports_no_network_library(tmp_path: Path) -> None:
    code = (
        "import sys; from mrac import cli, registry; cli.cli.main(['list', 'foundations'], standalone_mode=False); "
        "registry.create('foundation', 'dav2-large'); registry.create('foundation', 'moge-2'); "
        "print([m for m in ('torch', 'transformers', 'huggingface_hub', 'diffusers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"

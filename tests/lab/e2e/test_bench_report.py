"""From made images through a run to a report, as a person does it."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.test_cli import mrac
from tests.lab.packs import write_pack

PROTOCOL = """
name = "made"
shows = "a report"
[[grid]]
sets = ["kitti_made", "nyu"]
methods = ["cfa_ols", "vanilla", "mrac"]
families = ["near", "dropout"]
fractions = [0.0, 0.1, 0.25]
anchors = [50]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "made.toml").write_text(PROTOCOL)
    write_pack(folder / "pack", kitti_made=2, nyu=1)
    words = ["--protocol", str(folder / "made.toml"), "--data", str(folder / "pack"), "--out", str(folder / "run")]
    done = mrac("bench", "run", *words, "--sets", "kitti_made", "--workers", "1")
    assert done.returncode == 0, done.stderr
    return folder / "run"


def test_a_run_becomes_a_report_with_figures_of_images(run: Path) -> None:
    done = mrac("bench", "report", run, "--against", "paper", "--data", run.parent / "pack", "--photos")
    assert done.returncode == 0, done.stderr
    assert "figures of 15 cells" in done.stdout
    assert "missing" not in done.stdout
    assert "show images of kitti_made: check its terms" in done.stdout
    out = run / "report"
    text = (out / "report.md").read_text()
    assert "### Table II: AbsRel with 25 % near readings" in text
    assert "kitti_made 2 images (651 Eigen frames)" in text
    for name in ("figures/robustness.svg", "figures/propagation.png", "photos/blind_spot.png", "photos/teaser.pdf"):
        assert (out / name).is_file()
    assert "](photos/teaser.png)" in text
    assert "data:image/png;base64," in (out / "report.html").read_text()


def test_without_being_asked_to_a_report_shows_no_images(run: Path, tmp_path: Path) -> None:
    done = mrac("bench", "report", run, "--data", run.parent / "pack", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "figures" / "propagation.png").is_file()
    assert not (tmp_path / "photos").exists()
    assert "data:image/png" not in (tmp_path / "report.html").read_text()


def test_tables_alone_need_no_drawing(run: Path, tmp_path: Path) -> None:
    done = mrac("bench", "report", run, "--no-figures", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "out" / "figures").exists()
    assert (tmp_path / "out" / "cells.csv").read_text().count("\n") == 16


def test_mistakes_are_one_line_and_code_2(run: Path, tmp_path: Path) -> None:
    for words, says in (
        (["report"], "RUN"),
        (["report", str(tmp_path)], "has no run.json"),
        (["report", str(run), "--against", "nothing"], "paper"),
        (["report", str(run), "--photos"], "--photos goes with --data"),
        (["report", str(run), "--no-figures", "--data", str(tmp_path)], "none of"),
        (["report", str(run), "--no-figures", "--ablation", str(tmp_path / "no.json")], "no such file"),
    ):
        done = mrac("bench", *words)
        assert done.returncode == 2, words
        assert says in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_help_has_examples() -> None:
    done = mrac("bench", "report", "-h")
    assert done.returncode == 0
    assert "\n    mrac bench report" in done.stdout.partition("Examples")[2]


def test_a_packed_run_gives_the_same_report_to_its_last_digit(run: Path, tmp_path: Path) -> None:
    done = mrac("bench", "pack", run, "--out", tmp_path / "packed")
    assert done.returncode == 0, done.stderr
    assert "30 rows" in done.stdout
    for source, out in ((run, tmp_path / "a"), (tmp_path / "packed", tmp_path / "b")):
        done = mrac("bench", "report", source, "--no-figures", "--out", out)
        assert done.returncode == 0, done.stderr
    texts = [(tmp_path / out / "report.md").read_text() for out in ("a", "b")]
    whole, packed = (re.split(r"(\d+\.\d+)", text) for text in texts)  # text and numbers in turn
    assert whole[::2] == packed[::2]
    np.testing.assert_allclose(np.array(packed[1::2], float), np.array(whole[1::2], float), rtol=0.001, atol=0.0011)

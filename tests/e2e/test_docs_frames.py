"""The blocks of "Many frames" in docs/reference.md run as printed."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.e2e.test_cli import mrac_here
from tests.mrac.io.test_video import write_video

pytest.importorskip("av")
PAGE = Path(__file__).parents[2] / "docs" / "reference.md"
NAMES = ("door", "hall")


def block(language: str) -> str:
    section = PAGE.read_text(encoding="utf-8").partition("## Many frames\n")[2].partition("\n## ")[0]
    (found,) = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return str(found)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("frames", "readings"):
        (tmp_path / name).mkdir()
    v, u = np.mgrid[0:48, 0:64]
    pixels = np.stack([4 * u, 5 * v, 128 + 0 * u], axis=2).astype(np.uint8)
    for name in NAMES:
        Image.fromarray(pixels).save(tmp_path / "frames" / f"{name}.png")
        (tmp_path / "readings" / f"{name}.csv").write_text("u,v,z\n5,5,2\n50,9,2.1\n30,40,1.9\n")
    for table, names in (("table.csv", NAMES), ("walk.csv", ("0", "2"))):
        rows = [f"{name},{a},{b},2" for name in names for a, b in ((5, 5), (50, 9), (30, 40))]
        (tmp_path / table).write_text("\n".join(["frame,u,v,z_m", *rows]))
    write_video(tmp_path / "walk.mkv", [pixels] * 3)
    return tmp_path


def test_the_shell_lines_run(home: Path) -> None:
    lines = block("sh").splitlines()
    assert len(lines) == 3
    for line in lines:
        words = shlex.split(line)
        assert words[:2] == ["mrac", "calibrate"]
        done = mrac_here(*words[1:])
        assert (done.returncode, done.stderr) == (0, ""), line
    written = {path.relative_to(home).as_posix() for path in home.glob("*/*") if path.parent.name in ("maps", "walk")}
    maps = {f"maps/{name}.npz" for name in NAMES} | {"walk/000000.npz", "walk/000002.npz"}
    assert written == maps | {"maps/manifest.jsonl", "walk/manifest.jsonl"}
    assert {path.parent.name for path in home.glob("results/*/report.json")} == set(NAMES)


def test_the_python_lines_run(home: Path) -> None:
    exec(compile(block("python"), str(PAGE), "exec"), {})
    assert {path.name for path in (home / "streamed").iterdir()} == {f"{name}.npz" for name in NAMES}

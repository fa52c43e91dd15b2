"""The README's Python example runs as printed, and what it links to is there; its shell lines: see test_install.py."""

import re
from pathlib import Path

import numpy as np
import pytest

from mrac import MetricDepth

README = Path(__file__).parents[2] / "README.md"


def python_block() -> str:
    """All Python of the README, one after the other, as a reader would type it."""
    return "\n".join(re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL))


def shell_lines() -> list[str]:
    """The lines of "From the shell" that need nothing but demo/, which `mrac demo --out demo` makes: others say so.

    A line whose comment has the word "needs" (the network, data, an extra) is left out.
    """
    section = README.read_text(encoding="utf-8").partition("## From the shell")[2]
    (block,) = re.findall(r"```sh\n(.*?)```", section.partition("\n## ")[0], flags=re.DOTALL)
    lines = [line.strip() for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in lines if line and not line.startswith("#") and "needs" not in line.partition(" #")[2]]


def test_the_example_runs_and_says_what_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(python_block(), str(README), "exec"), names)
    out = names["out"]
    assert isinstance(out, MetricDepth)
    assert np.isfinite(out.depth_m).all()
    assert np.isfinite(out.sigma_m).all()


def test_the_shell_lines_start_with_the_command() -> None:
    assert shell_lines()
    assert [line for line in shell_lines() if not line.startswith("mrac ")] == []


def test_every_linked_file_exists() -> None:
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / link).exists(), link

"""Where a network comes from: the commit of the checkout it was trained in, or none."""

import re
import subprocess
from pathlib import Path

import pytest

from mrac.lab.train.heads import state as head_state
from mrac.lab.train.heads.state import commit

ROOT = Path(__file__).parents[4]


def test_the_commit_is_the_checkouts() -> None:
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no checkout")
    assert commit() == done.stdout.strip()
    assert re.fullmatch("[0-9a-f]{40}", commit() or "")


def test_a_package_below_somebodys_repository_is_no_commit_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    package = tmp_path / "venv" / "lib" / "mrac"
    package.mkdir(parents=True)
    monkeypatch.setattr(head_state, "__file__", str(package / "lab" / "train" / "heads" / "state.py"))
    assert commit() is None


def test_without_git_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert commit() is None

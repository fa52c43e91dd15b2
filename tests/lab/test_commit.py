"""Where a run or a network comes from: the commit of the checkout, or none."""

import re
import subprocess
from pathlib import Path

import pytest

from mrac.lab import commit
from mrac.lab.commit import checkout_commit

ROOT = Path(__file__).parents[2]


def head(*options: str) -> str:
    words = ["git", "-C", str(ROOT), "rev-parse", *options, "HEAD"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no checkout")
    return done.stdout.strip()


def test_the_commit_is_the_checkouts() -> None:
    assert checkout_commit() == head()
    assert re.fullmatch("[0-9a-f]{40}", checkout_commit() or "")
    assert (checkout_commit(short=True) or "").removesuffix("+changes") == head("--short")


@pytest.mark.parametrize(("differs", "expected"), [(0, "0a1b2c3"), (1, "0a1b2c3+changes")])
def test_the_short_one_says_whether_files_were_changed(
    differs: int, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = f'*--show-toplevel) echo {ROOT} ;; *"--short HEAD") echo 0a1b2c3 ;; *diff*) exit {differs} ;;'
    fake = tmp_path / "git"
    fake.write_text(f'#!/bin/sh\ncase "$*" in {answers} *) exit 1 ;; esac\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checkout_commit(short=True) == expected
    assert checkout_commit() is None  # this one knows no full hash


def test_a_package_below_somebodys_repository_is_no_commit_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    package = tmp_path / "venv" / "lib" / "mrac"
    package.mkdir(parents=True)
    monkeypatch.setattr(commit, "__file__", str(package / "lab" / "commit.py"))
    assert checkout_commit() is None


def test_without_git_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert checkout_commit() is None

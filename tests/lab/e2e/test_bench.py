"""The benchmark as a person runs it, and as a machine that loses power runs it."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mrac.lab.bench.store import finished, read_run
from tests.e2e.test_cli import mrac
from tests.lab.packs import write_pack

PROTOCOL = """
name = "made"
shows = "what a kill costs"
[families.near]
high = 0.5
[[grid]]
sets = ["room", "street"]
methods = ["cfa_ols;foundation=none", "default;foundation=none", "default;foundation=none;gate=none"]
families = ["near", "uniform", "dropout"]
fractions = [0.0, 0.1, 0.25, 0.4]
anchors = [20]
"""
KILLS = 5


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    (tmp_path / "made.toml").write_text(PROTOCOL)
    write_pack(tmp_path / "pack", room=8, street=6)
    return ["bench", "run", "--protocol", str(tmp_path / "made.toml"), "--data", str(tmp_path / "pack")]


def table(run: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_run(run).drop_columns(["time_ms"]).to_pylist()
    return rows


def progress(run: Path) -> int:
    """Bytes of all that was kept so far."""
    journal = run / "journal.jsonl"
    cells = sum(path.stat().st_size for path in (run / "cells").glob("*/*/*.parquet"))
    return cells + (journal.stat().st_size if journal.exists() else 0)


def ended(process: subprocess.Popen[bytes]) -> bool:
    """Waits a little for the end of a process."""
    try:
        process.wait(timeout=0.02)
    except subprocess.TimeoutExpired:
        return False
    return True


def test_killed_again_and_again_it_loses_nothing_and_ends_with_the_same_table(words: list[str], tmp_path: Path) -> None:
    whole, run = tmp_path / "whole", tmp_path / "run"
    done = mrac(*words, "--out", whole)
    assert done.returncode == 0, done.stderr
    assert "60 cells, 60 of them computed now" in done.stdout

    moments = random.Random(0)
    cells: set[Any] = set()
    working = 0
    for _ in range(KILLS):
        command = [sys.executable, "-m", "mrac", *words, "--out", str(run), "--workers", "1"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # At a random amount of work, not of time: a slow machine is not killed before it begins.
        until = progress(run) + moments.randrange(60_000)
        while progress(run) <= until and not ended(process):
            continue
        working += process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        now = finished(run)
        assert cells <= now
        cells = now
    assert working >= 3, "most kills should have come while it was at work"

    done = mrac(*words, "--out", run)
    assert done.returncode == 0, done.stderr
    assert f"60 cells, {60 - len(cells)} of them computed now" in done.stdout
    assert table(run) == table(whole)
    assert {path.name for path in run.iterdir()} == {"run.json", "cells", ".lock"}
    earlier = json.loads((run / "run.json").read_text())["earlier"]
    assert 1 <= len(earlier) <= KILLS


def test_the_paper_s_protocol_runs_on_any_folder_with_a_manifest(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "mine", yard=1)
    done = mrac("bench", "run", "--protocol", "paper", "--data", pack, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "none of the protocol's sets is there" in done.stdout
    rows = table(tmp_path / "run")
    assert len(rows) == 13 * 9
    assert {row["set"] for row in rows} == {"yard"}
    assert all(row["failure"] is None for row in rows)
    by_condition: dict[tuple[str, float], set[str]] = {}
    for row in rows:
        by_condition.setdefault((row["family"], row["fraction"]), set()).add(row["anchors_hash"])
    assert [len(hashes) for hashes in by_condition.values()] == [1] * 13


def test_real_readings_and_new_methods(words: list[str], tmp_path: Path) -> None:
    grid = '[[grid]]\nsets = ["room"]\nmethods = ["default;foundation=none"]\nsources = ["sensor"]\n'
    (tmp_path / "made.toml").write_text(
        f'name = "real"\n{grid}families = ["natural", "enriched"]\nfractions = [0.1, 0.4]\n'
    )
    methods = "cfa_ols;foundation=none,default;foundation=none;gate=theil_sen_mad:kappa=3"
    done = mrac(*words, "--out", tmp_path / "run", "--limit", "2", "--seeds", "0,1", "--methods", methods)
    assert done.returncode == 0, done.stderr
    rows = table(tmp_path / "run")
    assert len(rows) == 3 * 2 * 2 * 2
    assert {row["num_wrong"] for row in rows if row["family"] == "enriched"} == {5, 20}
    assert {row["method"] for row in rows} == {
        "cfa_ols;foundation=none", "default;foundation=none;gate=theil_sen_mad:kappa=3"
    }  # fmt: skip


def test_mistakes_are_one_line_and_code_2(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    mistakes: list[tuple[list[str | Path], str]] = [
        (["--out", tmp_path / "run", "--methods", "nope"], "there is no 'nope'; known: b_prime"),
        (["--out", tmp_path / "run", "--sets", "nyu"], "no set nyu in the data, which has room, street"),
        (["--out", tmp_path / "run", "--fractions", "a"], "not a list of numbers"),
        (["--out", tmp_path / "file"], "is a file; a folder is needed"),
        (["--out", tmp_path / "run", "--protocol", "papr"], "no protocol 'papr'; known:"),
        (["--out", tmp_path / "run", "--device", "cuda"], "--device cpu runs anywhere"),
        ([], "--out"),
    ]
    for more, says in mistakes:
        done = mrac(*words, *more)
        assert done.returncode == 2, (more, done.stdout)
        assert says in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_help_has_examples() -> None:
    for help_of in (["bench", "-h"], ["bench", "run", "-h"]):
        done = mrac(*help_of)
        assert done.returncode == 0
        assert "\n    mrac bench run" in done.stdout.partition("Example")[2]

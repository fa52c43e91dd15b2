"""The study of kills: what it would notice, and a few kills of the quickest jobs."""

import json
import sys
from pathlib import Path
from random import Random

import pytest

from mrac.lab.studies.kills import __main__ as kills
from mrac.lab.studies.kills.jobs import Job, Named, make_jobs
from mrac.lab.studies.kills.strike import Moment, left_running, run
from mrac.recordings.run import JOURNAL

# Writes 0 to 5, each once and whole; FORGETS begins anew each time, and LEAVES a file behind where it was killed.
WRITER = """
import os, sys, time
from pathlib import Path
out, how = Path(sys.argv[1]), sys.argv[2]
out.mkdir(exist_ok=True)
for number in range(6):
    if how == "forgets" or not (out / str(number)).exists():
        part = out / (f".{number}.{os.getpid()}" if how == "leaves" else ".part")
        part.write_text(str(number))
        time.sleep(0.02)
        part.replace(out / str(number))
"""


def made(how: str) -> Job:
    def kept(out: Path) -> Named:
        return {path.name: str(path.stat().st_ino) for path in out.glob("[0-9]")}

    def result(out: Path) -> Named:
        return {path.name: path.read_text() for path in out.glob("[0-9]")}

    return Job(
        name=how, out="out", words=lambda out: [sys.executable, "-c", WRITER, str(out), how], kept=kept, result=result
    )


@pytest.mark.parametrize(("how", "fault"), [("is good", ""), ("forgets", "lost"), ("leaves", "left_over")])
def test_it_notices(how: str, fault: str, tmp_path: Path) -> None:
    job = made(how)
    whole = kills.left_alone(job, tmp_path / "alone")
    found = kills.killed(job, whole, tmp_path / "killed", 8, Random(0))
    assert len(found.kills) == 8
    faults = {"lost": found.lost, "left_over": found.left_over, "different": found.different}
    assert {name for name, each in faults.items() if each} == ({fault} if fault else set())


def test_it_notices_workers_that_go_on(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    moment = Moment(after_s=2.0, after_changes=0, alone=True)
    killed = run([sys.executable, "-c", program], tmp_path / "out", moment)
    assert killed.code is None
    assert [command.endswith("time.sleep(600)") for command in left_running([killed.group], 0.0)] == [True]
    assert left_running([killed.group], 10.0) == []


def test_a_recording_is_done_once_its_journal_is_gone(tmp_path: Path) -> None:
    """A kill between the two leaves an empty folder; the command, given again, is refused then, and rightly."""
    (job,) = (one for one in make_jobs(tmp_path, 1) if one.name == "recording")
    out, part = tmp_path / "out.mcap", tmp_path / "out.mcap.part"
    part.mkdir()
    (part / JOURNAL).touch()
    assert not job.is_done(out)
    out.touch()
    assert not job.is_done(out)
    (part / JOURNAL).unlink()
    assert job.is_done(out)


def test_kills_of_the_cache_and_of_a_recording(tmp_path: Path) -> None:
    kills.main(["--kills", "4", "--only", "cache", "out.mcap", "--out", str(tmp_path)])
    found = json.loads((tmp_path / "kills.json").read_text())
    assert (found["kills"], found["faults"]) == (4, 0)
    assert set(found["jobs"]) == {"cache", "recording"}

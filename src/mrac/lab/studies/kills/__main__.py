"""Kills everything that writes, at random moments, and compares with runs left alone.

    python -m mrac.lab.studies.kills --kills 50 --seed 0

Each job (`kills.jobs`) runs once to its end. Then it is started again and again, and killed with SIGKILL: at a random
time or at a random change of its folder, all of its processes or only the first, and the next start comes at once. When
one comes to its end, what came out is compared with the run left alone. Reported for each job: what was lost (finished
before a kill, gone or changed after it), made again, different, refused, left over (files), left running (processes).
"""

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console
from rich.table import Table

from mrac.lab.studies.kills.jobs import Job, Named, make_jobs
from mrac.lab.studies.kills.strike import Moment, Run, left_running, listing, run
from mrac.lab.studies.protocol import results_folder, write_results

PATIENCE_S = 60.0  # for workers that were left to themselves to end their frame


@dataclass
class Found:
    """What the kills of one job showed; lists of what went wrong."""

    kills: list[str] = field(default_factory=list)
    rounds_compared: int = 0
    finished_when_killed: list[int] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    made_again: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    left_running: list[str] = field(default_factory=list)

    @property
    def num_faults(self) -> int:
        wrong = (self.lost, self.made_again, self.different, self.refused, self.left_over, self.left_running)
        return sum(map(len, wrong))


@dataclass(frozen=True)
class Whole:
    """A run left alone: its time, its changes, what came out, the names of its files."""

    seconds: float
    changes: int
    result: Named
    names: frozenset[str]


def names(folder: Path) -> frozenset[str]:
    """Of all files; TensorBoard's have the time and the process in theirs, one for each start."""
    return frozenset(name for name, _ in listing(folder) if "tfevents" not in name)


def left_alone(job: Job, folder: Path) -> Whole:
    """Runs a job to its end."""
    folder.mkdir()
    done = run(job.words(folder / job.out), folder)
    if done.code != 0:
        raise RuntimeError(f"kills: {job.name} did not run at all: {done.said[-2000:]}")
    return Whole(done.seconds, done.changes, job.result(folder / job.out), names(folder))


def killed(job: Job, whole: Whole, folder: Path, kills: int, rng: Random) -> Found:
    """Kills a job so many times, in as many rounds as come to their end meanwhile, and lets the last one end."""
    found = Found()
    while not found.rounds_compared or len(found.kills) < kills:
        _round(job, whole, folder / str(found.rounds_compared), kills, rng, found)
        found.rounds_compared += 1
    return found


def _round(job: Job, whole: Whole, folder: Path, kills: int, rng: Random, found: Found) -> None:
    folder.mkdir(parents=True)
    out, kept, groups = folder / job.out, Named(), []
    last: Run | None = None
    while last is None or (last.code is None and not job.is_done(out)):
        moment = Moment.drawn(rng, whole.seconds, whole.changes) if len(found.kills) < kills else None
        last = run(job.words(out), folder, moment)
        groups.append(last.group)
        now = job.kept(out)
        if last.code is None:
            found.kills.append(f"{moment}")
            found.finished_when_killed.append(len(now))
        if now or not job.is_done(out):  # the end of a recording takes its journal away
            found.lost += [f"{name} after {moment}" for name in kept if now.get(name) != kept[name]]
        if last.code == 0 and (num := job.again(last.said, len(kept))):
            found.made_again.append(f"{num} of {len(kept)}")
        kept = now
    for command in left_running(groups, PATIENCE_S):
        found.left_running.append(command[:200])
    if last.code:
        found.refused.append(last.said[-1000:])
        return
    job.settle(out)
    result = job.result(out)
    found.different += sorted(n for n in {*result, *whole.result} if result.get(n) != whole.result.get(n))
    found.left_over += sorted(names(folder) ^ whole.names)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="in all, shared evenly by the jobs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=1, help="of the jobs: 1 is the smallest")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="OUT", help="gate, head, bench, batch, out.mcap, cache"
    )
    parser.add_argument("--out", type=Path, default=results_folder("kills"))
    given = parser.parse_args(arguments)
    # Workers share the machine with whatever else runs; a network's sums differ with the number of threads.
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MRAC_CACHE": "off"}
    found: dict[str, Found] = {}
    about: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        jobs = [job for job in make_jobs(Path(name), given.size) if not given.only or job.out in given.only]
        for number, job in enumerate(jobs):
            share = given.kills // len(jobs) + (number < given.kills % len(jobs))
            whole = left_alone(job, Path(name) / f"alone-{number}")
            one = killed(job, whole, Path(name) / f"killed-{number}", share, Random(f"{given.seed} {job.out}"))
            found[job.name], about[job.name] = one, {"seconds_alone": round(whole.seconds, 1), **asdict(one)}
            # After each job: a study of kills may be killed.
            num_kills = sum(len(each.kills) for each in found.values())
            num_faults = sum(each.num_faults for each in found.values())
            write_results(given.out / "kills.json", kills=num_kills, faults=num_faults, jobs=about)
    show(found)
    if num_faults:
        raise SystemExit(1)


def show(found: dict[str, Found]) -> None:
    table = Table("job", "kills", "compared", "lost", "made again", "different", "refused", "left over", "left running")
    for job, one in found.items():
        lists = (one.lost, one.made_again, one.different, one.refused, one.left_over, one.left_running)
        table.add_row(job, str(len(one.kills)), str(one.rounds_compared), *(str(len(each)) for each in lists))
    Console().print(table)


if __name__ == "__main__":
    main()

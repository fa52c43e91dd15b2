"""One batch job with a clock: its seconds, frames a second once all workers run, and a worker killed on the way."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mrac import Calibrator
from mrac.batch_jobs.executors import Resources
from mrac.batch_jobs.job import Outcome
from mrac.batch_jobs.manifest import read_manifest
from mrac.batch_jobs.run import Summary, list_frames, make_job, run_job
from mrac.io.files import sha256_of

# What the command line of a process that calibrates begins with, or has in it.
_WORKERS = {"ray": b"ray::MapWorker(Map(_", "local": b"multiprocessing.spawn"}


@dataclass(frozen=True)
class Timed:
    """A run: its summary, and between its first and last tenth frames a second and the driver's own time for a frame.

    The driver is the process that hands out frames; its time is processor time.
    """

    summary: Summary
    frames_per_second: float
    driver_ms: float
    killed: int


def timed_run(
    calibrator: Calibrator, frames: Path, out: Path, executor: str, workers: int, kill_at: int | None = None
) -> Timed:
    """Runs a job over the folder `frames`.

    Args:
        calibrator: of the job.
        frames: folder of the frames.
        out: folder of the results.
        executor: `local` or `ray`.
        workers: how many.
        kill_at: number of outcomes after which a worker that calibrates gets SIGKILL; None: none does.
    """
    listed = list_frames([frames])
    at: list[float] = []
    used: list[float] = []
    killed = 0

    def note(outcome: Outcome) -> None:
        nonlocal killed
        at.append(time.perf_counter())
        used.append(time.process_time())
        if kill_at is not None and len(at) >= kill_at and not killed:
            killed += kill_one_worker(executor)

    summary = run_job(make_job(calibrator, out), listed, executor, Resources(workers=workers), note)
    first, last = len(at) // 10, len(at) * 9 // 10
    rate = (last - first) / max(at[last] - at[first], 1e-9)
    return Timed(summary, rate, (used[last] - used[first]) * 1e3 / (last - first), killed)


def kill_one_worker(executor: str) -> int:
    """Sends SIGKILL to one process that calibrates, of those that this process started; how many it found: 1 or 0."""
    for pid in _descendants(os.getpid()):
        try:
            if _WORKERS[executor] in Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "):
                os.kill(pid, signal.SIGKILL)
                return 1
        except OSError:  # it ended meanwhile
            continue
    return 0


def same_results(first: Path, second: Path) -> dict[str, int]:
    """Of two folders of results: frames, those with equal bytes, records over one for an id, and files left over."""
    one, two = read_manifest(first), read_manifest(second)
    files = {path.relative_to(second).as_posix() for path in second.rglob("*") if path.is_file()}
    named = {record.file for records in two.values() for record in records}
    return {
        "frames": len(one),
        "equal": sum(_equal(first, second, records[0].file) for name, records in one.items() if name in two),
        "recorded_more_than_once": sum(len(records) != 1 for records in two.values()),
        "missing": len(one.keys() - two.keys()),
        "stray_files": len(files - named - {"manifest.jsonl"}),
        "manifests_equal": int((first / "manifest.jsonl").read_bytes() == (second / "manifest.jsonl").read_bytes()),
    }


def _equal(first: Path, second: Path, file: str) -> bool:
    return bool(file) and sha256_of(first / file) == sha256_of(second / file)


def _descendants(pid: int) -> Iterator[int]:
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(word) for word in path.read_text(encoding="ascii").split()]
        except OSError:
            continue
        for child in children:
            yield child
            yield from _descendants(child)

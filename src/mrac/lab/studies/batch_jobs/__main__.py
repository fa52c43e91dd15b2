"""Batch jobs at scale, measured: `python -m mrac.lab.studies.batch_jobs --data ../shared/data/train`.

1. `--frames` small frames by one local worker: the serial run. The same by `--executor` with two workers, of which one
   is killed midway: every frame once, bytes equal? Then the same command again: nothing is computed.
2. `--speed-frames` of them by one worker and by two, in turns, `--rounds` times: frames a second between the first and
   the last tenth, so that neither start nor end counts. The machine's load is recorded; others' work spoils the ratio.
3. Processor time of each stage, one thread, at `--size` and at 640×480, the best of 20 frames.
4. A model with these times: throughput over the number of cores, and where the driver or the disk is the limit.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from mrac import Calibrator
from mrac.batch_jobs.job import Outcome
from mrac.batch_jobs.manifest import held, new_part
from mrac.batch_jobs.run import list_frames, make_job
from mrac.batch_jobs.stages import calibrate, commit, load, prepare_worker
from mrac.io.files import write_whole
from mrac.lab.studies.batch_jobs.frames import write_frames
from mrac.lab.studies.batch_jobs.runs import same_results, timed_run
from mrac.lab.studies.batch_jobs.simulation import frames_per_second, stations_of
from mrac.lab.studies.protocol import results_folder, write_results

CORES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
FULL_SIZE = (640, 480)


def once_under_a_kill(calibrator: Calibrator, frames: Path, folder: Path, executor: str) -> dict[str, Any]:
    """Serial run, run with a kill, and the same again."""
    number = len(list_frames([frames]))
    load_before = os.getloadavg()[0]
    serial = timed_run(calibrator, frames, folder / "serial", "local", 1)
    killed = timed_run(calibrator, frames, folder / "killed", executor, 2, kill_at=number // 2)
    compared = same_results(folder / "serial", folder / "killed")
    again = timed_run(calibrator, frames, folder / "killed", executor, 2)
    return {
        "executor": executor,
        "workers_killed": killed.killed,
        "compared": compared,
        "actions": dict(killed.summary.actions),
        "actions_of_the_same_again": dict(again.summary.actions),
        "seconds_serial": serial.summary.seconds,
        "seconds_with_the_kill": killed.summary.seconds,
        "seconds_of_the_same_again": again.summary.seconds,
        "driver_ms_a_frame": killed.driver_ms,
        "load_average": [load_before, os.getloadavg()[0]],
    }


def speed(calibrator: Calibrator, frames: Path, folder: Path, executor: str, rounds: int) -> dict[str, Any]:
    """Frames a second of one and of two workers, in turns."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    seconds: dict[int, list[float]] = {1: [], 2: []}
    loads = [os.getloadavg()[0]]
    for number in range(rounds):
        for workers in (1, 2):
            run = timed_run(calibrator, frames, folder / f"speed-{number}-{workers}", executor, workers)
            rates[workers].append(run.frames_per_second)
            seconds[workers].append(run.summary.seconds)
            loads.append(os.getloadavg()[0])
    return {
        "executor": executor,
        "frames": len(list_frames([frames])),
        "frames_per_second": {str(workers): found for workers, found in rates.items()},
        "seconds_with_start": {str(workers): found for workers, found in seconds.items()},
        "ratio_of_the_best": max(rates[2]) / max(rates[1]),
        "ratio_of_medians": float(np.median(rates[2]) / np.median(rates[1])),
        "load_average": loads,
    }


def stage_times(calibrator: Calibrator, frames: Path, folder: Path) -> dict[str, Any]:
    """Processor milliseconds of each stage, the least over the frames, and bytes of a result."""
    job = make_job(calibrator, folder)
    found: dict[str, list[float]] = {"load": [], "calibrate": [], "commit": []}
    num_bytes = []
    with held(folder):
        for frame in list_frames([frames]):
            value: Any = frame
            for stage, work in (("load", load), ("calibrate", calibrate), ("commit", commit)):
                start = time.process_time()
                value = work(job, value)
                found[stage].append((time.process_time() - start) * 1e3)
            assert isinstance(value, Outcome)
            assert value.action == "computed", value.record.error
            num_bytes.append(value.record.num_bytes)
    return {
        "least_ms": {stage: min(times) for stage, times in found.items()},
        "median_ms": {stage: float(np.median(times)) for stage, times in found.items()},
        "num_bytes": float(np.mean(num_bytes)),
    }


def disk_rate(folder: Path, num_bytes: int, number: int = 100) -> float:
    """Bytes a second of files of `num_bytes`, each written whole and forced to the disk, one after the other."""
    content = np.random.default_rng(0).bytes(num_bytes)
    with held(folder):
        start = time.perf_counter()
        for _ in range(number):
            write_whole(new_part(folder, ".npz"), lambda file: file.write(content))
        return number * num_bytes / (time.perf_counter() - start)


def model(stages: dict[str, Any], driver_ms: float, disk_bytes_per_s: float) -> dict[str, Any]:
    """Throughput over the number of cores, and what a million frames need."""
    by_cores, limits = {}, {}
    for cores in CORES:
        stations = stations_of(stages["median_ms"], driver_ms, stages["num_bytes"], disk_bytes_per_s, cores)
        by_cores[str(cores)] = frames_per_second(stations)
        limits[str(cores)] = min(stations, key=lambda station: station.limit_per_second).name
    core_seconds = sum(stages["median_ms"].values()) / 1e3
    return {
        "frames_per_second": by_cores,
        "limit": limits,
        "core_hours_per_million": core_seconds * 1e6 / 3600,
        "gigabytes_per_million": stages["num_bytes"] * 1e6 / 1e9,
        "driver_limit_per_second": 1e3 / driver_ms,
        "disk_limit_per_second": disk_bytes_per_s / stages["num_bytes"],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="training pack: ../shared/data/train")
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--speed-frames", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, nargs=2, default=(160, 120), metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--anchors", type=int, default=50)
    parser.add_argument("--executor", default="ray", choices=("local", "ray"))
    parser.add_argument("--method", default="default")
    parser.add_argument("--foundation", help="in place of the method's")
    parser.add_argument("--parts", nargs="+", default=["once", "speed", "stages"], choices=("once", "speed", "stages"))
    parser.add_argument("--driver-ms", type=float, help="a frame, for the model, where `once` is not measured")
    parser.add_argument("--disk-mb-per-s", type=float, help="for the model, in place of a measurement")
    parser.add_argument("--out", type=Path, default=results_folder("batch_jobs"))
    given = parser.parse_args(arguments)

    calibrator = Calibrator(given.method, foundation=given.foundation)
    found: dict[str, Any] = {"calibrator": repr(calibrator), "size": list(given.size), "anchors": given.anchors}
    driver_ms = given.driver_ms
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "once" in given.parts:
            write_frames(given.data, folder / "frames", given.frames, tuple(given.size), given.anchors)
            found["once"] = once_under_a_kill(calibrator, folder / "frames", folder, given.executor)
            driver_ms = found["once"]["driver_ms_a_frame"]
        if "speed" in given.parts:
            write_frames(given.data, folder / "few", given.speed_frames, tuple(given.size), given.anchors)
            found["speed"] = speed(calibrator, folder / "few", folder, given.executor, given.rounds)
        if "stages" in given.parts:
            prepare_worker()  # from here on: one thread
            for size in (tuple(given.size), FULL_SIZE):
                text = f"{size[0]}x{size[1]}"
                write_frames(given.data, folder / text, 20, size, given.anchors)
                found[text] = stage_times(calibrator, folder / text, folder / f"out-{text}")
                if driver_ms is not None:
                    rate = (given.disk_mb_per_s or 0.0) * 1e6 or disk_rate(folder / "d", int(found[text]["num_bytes"]))
                    found[text] |= {"disk_bytes_per_s": rate, "model": model(found[text], driver_ms, rate)}
    given.out.mkdir(parents=True, exist_ok=True)
    write_results(given.out / "batch_jobs.json", **found)
    Console().print(found)


if __name__ == "__main__":
    main()

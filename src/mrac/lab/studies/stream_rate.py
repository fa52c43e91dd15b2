"""Frames per second of `Calibrator.stream`, where frames overlap, beside single calls one after the other.

    python -m mrac.lab.studies.stream_rate --methods fast default

The scene of `real_time`, 480 × 640 and 50 readings, the same frame again and again. Rounds take turns over the numbers
of workers, so that what else the machine does meets all of them; reported are median and best of the rounds.
"""

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import Anchors, Calibrator
from mrac.lab.studies.protocol import results_folder, write_results
from mrac.lab.studies.real_time import write_scene
from mrac.runtime.parallel import num_cores


def frame() -> tuple[Any, Anchors]:
    """The demo's photograph at 480 × 640 and its readings."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scene.npz"
        write_scene(path)
        with np.load(path, allow_pickle=False) as stored:
            return stored["image"], Anchors(stored["uv_px"], stored["z_m"])


def rates(method: str, workers: Sequence[int], frames: int, rounds: int) -> dict[int, list[float]]:
    """Frames per second of every round, for each number of workers; 0 is single calls."""
    calibrator, one = Calibrator(method), frame()
    calibrator(*one)
    found: dict[int, list[float]] = {number: [] for number in workers}
    for _ in track(range(rounds), method):
        for number in workers:
            start = time.perf_counter()
            done = (
                calibrator.stream([one] * frames, workers=number)
                if number
                else (calibrator(*one) for _ in range(frames))
            )
            count = sum(1 for _ in done)
            found[number].append(count / (time.perf_counter() - start))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=["fast", "default"], metavar="METHOD")
    parser.add_argument("--frames", type=int, default=100, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=results_folder("real-time"))
    given = parser.parse_args(arguments)
    load, workers = os.getloadavg()[0], [0, *sorted({1, num_cores()})]
    table, results = Table("480 × 640, K = 50", "workers", "frames/s, median", "best"), {}
    for method in given.methods:
        for number, found in rates(method, workers, given.frames, given.rounds).items():
            row = {"median_hz": round(float(np.median(found)), 1), "best_hz": round(max(found), 1)}
            results[f"{method}, {number} workers" if number else f"{method}, single calls"] = row
            table.add_row(method, str(number or "single calls"), *map(str, row.values()))
    Console().print(table)
    given.out.mkdir(parents=True, exist_ok=True)
    write_results(given.out / "stream_rate.json", rates=results, load_average=round(load, 2))


if __name__ == "__main__":
    main()

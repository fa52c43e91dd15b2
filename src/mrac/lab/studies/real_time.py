"""Time and memory of methods side by side, each in a process of its own, in turns; another checkout beside them.

    git worktree add ../before d331b5a
    python -m mrac.lab.studies.real_time --methods default fast --before ../before

A method may name a device of `mrac list devices`, such as fast@openvino.

A call is the whole of it: image and 50 readings in, depth, deviation and verdicts out. Image: the demo's photograph at
480 × 640. Every round gives each process the same number of calls, so that what else the machine does meets all of
them. Reported: least and median wall time and processor time of a call over all rounds, ratios of the medians within a
round (median over the rounds), and the most memory that the process ever had.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac.demo import motorcycle
from mrac.lab.studies.protocol import results_folder, write_results

SHAPE: Final = (480, 640)
_WORKER: Final = Path(__file__).resolve().with_name("timed_calls.py")
BEFORE: Final = "default, before"


def write_scene(path: Path) -> None:
    """The demo's photograph and its readings at `SHAPE`, as arrays that any version of the package can be given."""
    scene = motorcycle()
    H, W = SHAPE
    scale = np.array([W, H]) / np.array(scene.image.shape[1::-1])
    image = np.asarray(Image.fromarray(scene.image).resize((W, H)))
    uv_px = np.minimum(np.floor(scene.anchors.uv_px * scale), [W - 1, H - 1])
    np.savez(path, image=image, uv_px=uv_px, z_m=scene.anchors.z_m)


def start(scene: Path, method: str, checkout: Path | None) -> subprocess.Popen[str]:
    """The process of `timed_calls` for a method of this checkout or of another one."""
    environment = {**os.environ, "MRAC_CACHE": "off"}
    if checkout is not None:
        environment["PYTHONPATH"] = str(checkout.resolve() / "src")
    # By its path and without its folder: the other checkout has no such study.
    command = [sys.executable, "-P", str(_WORKER), str(scene), method]
    process = subprocess.Popen(
        command, env=environment, cwd=scene.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        process.communicate()
        raise RuntimeError(f"real_time: the process of {method} did not start")
    return process


def measure(processes: dict[str, subprocess.Popen[str]], rounds: int, calls: int) -> dict[str, list[Any]]:
    """For each process the answers of all rounds, taken in turns."""
    found: dict[str, list[Any]] = {name: [] for name in processes}
    for _ in track(range(rounds), "rounds"):
        for name, process in processes.items():
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{calls}\n")
            process.stdin.flush()
            found[name].append(json.loads(process.stdout.readline()))
    return found


def summary(found: dict[str, list[Any]], base: str) -> dict[str, dict[str, float]]:
    """Of each process its times, memory, and how many times faster than `base` it is."""
    results = {}
    medians = {name: np.array([np.median(r["times"], axis=0) for r in rounds]) for name, rounds in found.items()}
    for name, rounds in found.items():
        times = np.concatenate([r["times"] for r in rounds])
        ratio = np.median(medians[base] / medians[name], axis=0)
        results[name] = {
            "wall_ms": round(float(np.median(times[:, 0])), 1),
            "least_wall_ms": round(float(times[:, 0].min()), 1),
            "processor_ms": round(float(np.median(times[:, 1])), 1),
            "times_faster_wall": round(float(ratio[0]), 2),
            "times_faster_processor": round(float(ratio[1]), 2),
            "peak_mb": round(rounds[-1]["peak_mb"], 0),
        }
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=["default", "fast"], metavar="METHOD")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="its `default` is timed too, and the base")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--calls", type=int, default=10, help="of each process in a round")
    parser.add_argument("--out", type=Path, default=results_folder("real-time"))
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    scene = given.out.resolve() / "scene.npz"
    write_scene(scene)
    processes = {} if given.before is None else {BEFORE: start(scene, "default", given.before)}
    processes |= {method: start(scene, method, None) for method in given.methods}
    load = os.getloadavg()
    try:
        found = measure(processes, given.rounds, given.calls)
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()
        scene.unlink()
    results = summary(found, next(iter(processes)))
    columns = list(next(iter(results.values())))
    table = Table("480 × 640, K = 50", *(name.replace("_", " ") for name in columns))
    for name, row in results.items():
        table.add_row(name, *(str(row[column]) for column in columns))
    Console().print(table)
    loads = {"before": round(load[0], 2), "after": round(os.getloadavg()[0], 2)}
    write_results(given.out / "real_time.json", methods=results, load_average=loads)


if __name__ == "__main__":
    main()

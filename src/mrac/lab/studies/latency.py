"""Table VII by its own protocol: each component of a method timed alone, 10 runs to warm up, then 100 timed.

    python -m mrac.lab.studies.latency --data ../shared/data/eval

Per image size (480 × 640 and 352 × 1216, as in the paper) and method (the paper's system and ours): foundation, gate,
fit and head, each on what the stages before it gave (the gate is the paper's "selection"); and end to end, which is one
call with the foundation in it. Mean ± standard deviation in milliseconds, K = 50, and images per second of the
end-to-end mean. On the CPU, all cores. One image, resized to the size; which one makes no difference to networks, and
little to the rest. About five minutes on two cores.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from mrac import Anchors, Calibrator
from mrac.conventions import FloatArray, ImageArray
from mrac.lab.data.manifest import read_manifest
from mrac.lab.studies.protocol import results_folder, truth_of, write_results
from mrac.runtime.parallel import num_cores

METHODS: Final = ("mrac", "vanilla", "default")
SIZES: Final = {"nyu": (480, 640), "kitti15": (352, 1216)}
"""A set of the pack and the size (H, W) at which the paper times it."""
COMPONENTS: Final = ("foundation", "gate", "fit", "head", "end_to_end")
NUM_ANCHORS: Final = 50


def scene(data: Path, set_name: str, shape: tuple[int, int]) -> tuple[ImageArray, Anchors]:
    """The first frame of a set at a size, and 50 clean readings of its truth."""
    frame = next(iter(read_manifest(data, set_name)))
    H, W = shape
    picture = Image.fromarray(frame.image()).resize((W, H), Image.Resampling.BILINEAR)
    truth = Image.fromarray(truth_of(frame).astype(np.float32)).resize((W, H), Image.Resampling.NEAREST)
    return np.asarray(picture), readings(np.asarray(truth))


def readings(truth_m: FloatArray) -> Anchors:
    """50 clean readings of an (H, W) truth map, <= 0 where there is none."""
    v, u = np.nonzero(truth_m > 0.0)
    chosen = np.random.default_rng(0).choice(u.size, min(NUM_ANCHORS, u.size), replace=False)
    return Anchors(np.stack([u[chosen], v[chosen]], axis=1), truth_m[v[chosen], u[chosen]].astype(np.float64))


def timed(function: Callable[[], Any], warmup: int, runs: int) -> FloatArray:
    """(runs,) milliseconds of each call after `warmup` that are not counted."""
    times = []
    for _ in range(warmup + runs):
        start = time.perf_counter()
        function()
        times.append((time.perf_counter() - start) * 1e3)
    return np.array(times[warmup:])


def components(method: str, image: ImageArray, anchors: Anchors, warmup: int, runs: int) -> dict[str, FloatArray]:
    """(runs,) milliseconds of each component of a method.

    Gate, fit and head are timed by the calibrator itself, on a field that is given to it, so that each sees exactly
    what it sees in use; the foundation is called alone.
    """
    calibrator = Calibrator(method)
    relative = calibrator.foundation(image)
    stages: dict[str, list[float]] = {name: [] for name in ("gate", "fit", "head")}

    def after_the_foundation() -> None:
        out = calibrator(image, anchors, relative)
        for name, times in stages.items():
            times.append(out.timings_ms[name])

    foundation = timed(lambda: calibrator.foundation(image), warmup, runs)
    timed(after_the_foundation, warmup, runs)
    return {
        "foundation": foundation,
        **{name: np.array(times[warmup:]) for name, times in stages.items()},
        "end_to_end": timed(lambda: calibrator(image, anchors), warmup, runs),
    }


def summary(times_ms: dict[str, FloatArray]) -> dict[str, Any]:
    """Mean and standard deviation of each component, and images per second end to end."""
    both = {name: {"mean_ms": float(t.mean()), "std_ms": float(t.std(ddof=1))} for name, t in times_ms.items()}
    return {**both, "fps": 1e3 / both["end_to_end"]["mean_ms"]}


def shown(results: dict[str, dict[str, dict[str, Any]]]) -> Table:
    """Methods and sizes as columns, the paper's components as rows."""
    columns = [(size, method) for size, by_method in results.items() for method in by_method]
    table = Table("ms, mean ± std", *(f"{method}\n{size}" for size, method in columns), title="Table VII, here")
    for name in COMPONENTS:
        cells = [results[size][method][name] for size, method in columns]
        table.add_row(name, *(f"{cell['mean_ms']:.2f} ± {cell['std_ms']:.2f}" for cell in cells))
    table.add_row("FPS", *(f"{results[size][method]['fps']:.1f}" for size, method in columns))
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a manifest.csv")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), metavar="METHOD")
    parser.add_argument("--warmup", type=int, default=10, help="runs that are not counted")
    parser.add_argument("--runs", type=int, default=100, help="runs that are")
    parser.add_argument("--out", type=Path, default=results_folder("latency"))
    given = parser.parse_args(arguments)
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for set_name, shape in SIZES.items():
        image, anchors = scene(given.data, set_name, shape)
        results[f"{shape[0]}x{shape[1]}"] = {
            method: summary(components(method, image, anchors, given.warmup, given.runs)) for method in given.methods
        }
    Console().print(shown(results))
    write_results(
        given.out / "latency.json",
        num_anchors=NUM_ANCHORS,
        warmup=given.warmup,
        runs=given.runs,
        device=f"cpu, {num_cores()} cores",
        sizes=results,
    )


if __name__ == "__main__":
    main()

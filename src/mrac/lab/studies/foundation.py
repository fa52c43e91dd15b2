"""How good a foundation is by itself: clean anchors, an affine fit in its own space, AbsRel.

    python -m mrac.lab.studies.foundation --data ../shared/data/eval --sets nyu kitti15 sunrgbd tum

Beside each foundation stand the two fits that need no network, in log depth: a constant, and a line in the image row.
Time and memory are of the foundation alone, on a 480×640 image, in a process of its own.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import Anchors, Calibrator, RelativeDepth, registry
from mrac.conventions import FloatArray, ImageArray
from mrac.lab.data.manifest import read_manifest
from mrac.lab.studies.protocol import abs_rel, draw_anchors, results_folder, summary, truth_of, write_results
from mrac.runtime.cache import default_store


def affine_fit(foundation: str) -> Calibrator:
    """In the foundation's own space, unlike the paper's `cfa_ols`, which fits depth whatever it is given."""
    return Calibrator("default", foundation=foundation, gate="none", fit="ols", head="affine", cache=default_store())


def constant(image: ImageArray, anchors: Anchors) -> FloatArray:
    return np.full(image.shape[:2], np.exp(np.log(anchors.z_m).mean()))


def image_row(image: ImageArray, anchors: Anchors) -> FloatArray:
    rows = np.broadcast_to(np.arange(image.shape[0], dtype=np.float32)[:, None], image.shape[:2])
    return affine_fit("none")(image, anchors, RelativeDepth(rows, "log_depth")).depth_m


def errors_of(arguments: argparse.Namespace, set_name: str) -> dict[str, list[float]]:
    calibrators = {spec: affine_fit(spec) for spec in arguments.foundations}
    errors: dict[str, list[float]] = {name: [] for name in ("constant", "image row", *calibrators)}
    for frame in track(list(read_manifest(arguments.data, set_name))[: arguments.limit], description=set_name):
        image, truth_m = frame.image(), truth_of(frame)
        anchors = draw_anchors(frame, truth_m, arguments.anchors, arguments.seed)
        answers = {"constant": constant(image, anchors), "image row": image_row(image, anchors)}
        answers |= {spec: calibrator(image, anchors).depth_m for spec, calibrator in calibrators.items()}
        for name, depth_m in answers.items():
            errors[name].append(abs_rel(set_name, depth_m, truth_m))
    return errors


def cost_of(spec: str) -> dict[str, float]:
    """Median time of a call and the process's peak memory, in a process that does nothing else."""
    command = [sys.executable, "-m", "mrac.lab.studies.foundation", "--cost", spec]
    milliseconds, megabytes = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return {"milliseconds": float(milliseconds), "peak_megabytes": float(megabytes)}


def print_cost(spec: str) -> None:
    foundation = registry.create("foundation", spec)
    image = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)
    times = []
    for _ in range(21):
        start = time.perf_counter()
        foundation(image)
        times.append(time.perf_counter() - start)
    print(np.median(times[1:]) * 1e3, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with a manifest.csv")
    parser.add_argument("--sets", nargs="+", default=["nyu"])
    parser.add_argument("--foundations", nargs="+", default=["embedded", "embedded:mirror=0"], metavar="SPEC")
    parser.add_argument("--anchors", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=None, help="images per set")
    parser.add_argument("--cost", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=results_folder("foundation"))
    arguments = parser.parse_args()
    if arguments.cost:
        print_cost(arguments.cost)
        return
    results = {name: {k: summary(e) for k, e in errors_of(arguments, name).items()} for name in arguments.sets}
    costs = {spec: cost_of(spec) for spec in arguments.foundations}
    names = ("constant", "image row", *arguments.foundations)
    table = Table("set", "images", *names, "less error", title=f"AbsRel, K = {arguments.anchors}, affine fit")
    for set_name, row in results.items():
        better = min(row["constant"]["abs_rel"], row["image row"]["abs_rel"])
        gain = 1.0 - row[arguments.foundations[0]]["abs_rel"] / better
        scores = (f"{row[name]['abs_rel']:.4f}" for name in names)
        table.add_row(set_name, str(row["constant"]["images"]), *scores, f"{gain:.0%}")
    Console().print(table)
    for spec, cost in costs.items():
        print(f"{spec}: {cost['milliseconds']:.0f} ms, {cost['peak_megabytes']:.0f} MB")
    write_results(arguments.out / f"seed{arguments.seed}.json", anchors=arguments.anchors, sets=results, costs=costs)


if __name__ == "__main__":
    main()

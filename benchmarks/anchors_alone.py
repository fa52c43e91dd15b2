"""Depth from clean anchors with no network: AbsRel by number of anchors on sets of a manifest folder.

    python benchmarks/anchors_alone.py --data ../shared/data/eval --sets nyu

Anchors are drawn anywhere in the image where there is ground truth, per image from a seed sequence of the image's name
and the seed; every pixel inside the set's customary crop is scored, anchors included.
"""

import argparse
import datetime
import platform
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import Anchors, Calibrator
from mrac.conventions import BoolArray, FloatArray
from mrac.datasets.manifest import Frame, read_manifest
from mrac.io.files import write_json
from mrac.io.result import versions
from mrac.metrics import depth_metrics
from mrac.threads import num_cores

# Eigen's crop of NYUv2 and its 10 m cap; sets without a customary crop are scored whole, to 80 m.
CROPS = {"nyu": (slice(45, 471), slice(41, 601))}
MAX_DEPTH_M = {"nyu": 10.0}


def scored_pixels(name: str, truth_m: FloatArray) -> BoolArray:
    inside = np.zeros(truth_m.shape, np.bool_)
    inside[CROPS.get(name, (slice(None), slice(None)))] = True
    return inside & (truth_m > 1e-3) & (truth_m < MAX_DEPTH_M.get(name, 80.0))


def draw_anchors(frame: Frame, truth_m: FloatArray, num_anchors: int, seed: int) -> Anchors:
    rng = np.random.default_rng([zlib.crc32(frame.name.encode()), seed])
    v, u = np.nonzero(truth_m > 0.0)
    chosen = rng.choice(v.size, min(num_anchors, v.size), replace=False)
    return Anchors(np.stack([u[chosen], v[chosen]], axis=1), truth_m[v[chosen], u[chosen]])


def errors_of(arguments: argparse.Namespace, set_name: str) -> dict[int, list[float]]:
    frames = list(read_manifest(arguments.data, set_name))[: arguments.limit]
    calibrator = Calibrator(arguments.method, foundation="none", head=arguments.head)
    errors: dict[int, list[float]] = {k: [] for k in arguments.anchors}
    for frame in track(frames, description=set_name):
        image, truth_m = frame.image(), frame.depth_m("gt" if "gt" in frame.row else "depth")
        valid = scored_pixels(set_name, truth_m)
        for num_anchors, collected in errors.items():
            depth_m = calibrator(image, draw_anchors(frame, truth_m, num_anchors, arguments.seed)).depth_m
            clipped = np.clip(depth_m, 1e-3, MAX_DEPTH_M.get(set_name, 80.0))
            collected.append(depth_metrics(clipped, truth_m, valid).abs_rel)
    return errors


def main() -> None:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    machine = f"{num_cores()}cores-{platform.machine()}"
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a manifest.csv")
    parser.add_argument("--sets", nargs="+", default=["nyu"])
    parser.add_argument("--anchors", type=int, nargs="+", default=[5, 10, 25, 50, 100, 200])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=None, help="images per set")
    parser.add_argument("--method", default="default")
    parser.add_argument("--head", default=None, help="in place of the method's, e.g. kriging:region_length=1e9")
    parser.add_argument("--out", type=Path, default=Path("results") / f"anchors-alone--{machine}--{today}")
    arguments = parser.parse_args()

    table = Table(
        "set", "images", *(f"K = {k}" for k in arguments.anchors), title=f"AbsRel, {arguments.head or arguments.method}"
    )
    results: dict[str, dict[str, dict[str, float]]] = {}
    for set_name in arguments.sets:
        errors = errors_of(arguments, set_name)
        results[set_name] = {
            str(k): {
                "abs_rel": round(float(np.mean(e)), 5),
                "standard_error": round(float(np.std(e, ddof=1) / len(e) ** 0.5), 5),
                "images": len(e),
            }
            for k, e in errors.items()
        }
        means = [f"{row['abs_rel']:.4f}" for row in results[set_name].values()]
        table.add_row(set_name, str(len(next(iter(errors.values())))), *means)
    Console().print(table)
    write_json(
        arguments.out / f"seed{arguments.seed}.json",
        {
            "command": " ".join(["python", *sys.argv]),
            "date": today,
            "machine": machine,
            "commit": commit.stdout.strip(),
            "seed": arguments.seed,
            "sets": results,
            "versions": versions(),
        },
    )


if __name__ == "__main__":
    main()

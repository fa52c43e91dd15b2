"""Depth from clean anchors with no network: AbsRel by number of anchors on one set of a manifest folder.

    python benchmarks/anchors_alone.py --data ../shared/data/eval --set nyu --out results/...

Anchors are drawn per image from a seed sequence of image id and seed, at valid pixels inside the scored crop's frame
or anywhere in the image (`--anchors-in`); every pixel of the crop is scored, anchors included.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="nyu")
    parser.add_argument("--anchors", type=int, nargs="+", default=[5, 10, 25, 50, 100, 200])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--method", default="default")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()

    frames = list(read_manifest(arguments.data, arguments.set))[: arguments.limit]
    calibrator = Calibrator(arguments.method, foundation="none")
    errors: dict[int, list[float]] = {k: [] for k in arguments.anchors}
    for frame in track(frames, description="images"):
        image, truth_m = frame.image(), frame.depth_m("gt")
        valid = scored_pixels(arguments.set, truth_m)
        for num_anchors, collected in errors.items():
            depth_m = calibrator(image, draw_anchors(frame, truth_m, num_anchors, arguments.seed)).depth_m
            clipped = np.clip(depth_m, 1e-3, MAX_DEPTH_M.get(arguments.set, 80.0))
            collected.append(depth_metrics(clipped, truth_m, valid).abs_rel)
    table = Table(
        "anchors",
        "AbsRel",
        "standard error",
        title=f"{arguments.set}: {len(frames)} images, {arguments.method}",
    )
    for num_anchors, collected in errors.items():
        spread = np.std(collected, ddof=1) / len(collected) ** 0.5
        table.add_row(str(num_anchors), f"{np.mean(collected):.4f}", f"{spread:.4f}")
    Console().print(table)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    write_json(
        arguments.out / f"{arguments.set}.json",
        {
            "command": " ".join(["python", *sys.argv]),
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": f"{num_cores()} cores, {platform.machine()}",
            "commit": commit.stdout.strip(),
            "images": len(frames),
            "seed": arguments.seed,
            "abs_rel": {str(k): round(float(np.mean(e)), 5) for k, e in errors.items()},
            "versions": versions(),
        },
    )


if __name__ == "__main__":
    main()

"""What the accuracy benchmarks share: which pixels count, which anchors are drawn, what a results file records."""

import datetime
import platform
import subprocess
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mrac import Anchors
from mrac.conventions import BoolArray, FloatArray
from mrac.datasets.manifest import Frame
from mrac.io.files import write_json
from mrac.io.result import versions
from mrac.metrics import depth_metrics
from mrac.threads import num_cores

# Eigen's crop of NYUv2 and its 10 m cap; sets without a customary crop are scored whole, to 80 m.
_CROPS = {"nyu": (slice(45, 471), slice(41, 601))}
_MAX_DEPTH_M = {"nyu": 10.0}


def truth_of(frame: Frame) -> FloatArray:
    """(H, W) metres, of an evaluation or a training pack."""
    return frame.depth_m("gt" if "gt" in frame.row else "depth")


def scored_pixels(set_name: str, truth_m: FloatArray) -> BoolArray:
    inside = np.zeros(truth_m.shape, np.bool_)
    inside[_CROPS.get(set_name, (slice(None), slice(None)))] = True
    return inside & (truth_m > 1e-3) & (truth_m < _MAX_DEPTH_M.get(set_name, 80.0))


def draw_anchors(frame: Frame, truth_m: FloatArray, num_anchors: int, seed: int) -> Anchors:
    """Anywhere with ground truth, from a seed sequence of the frame's name and the seed."""
    rng = np.random.default_rng([zlib.crc32(frame.name.encode()), seed])
    v, u = np.nonzero(truth_m > 0.0)
    chosen = rng.choice(v.size, min(num_anchors, v.size), replace=False)
    return Anchors(np.stack([u[chosen], v[chosen]], axis=1), truth_m[v[chosen], u[chosen]])


def abs_rel(set_name: str, depth_m: FloatArray, truth_m: FloatArray) -> float:
    clipped = np.clip(depth_m, 1e-3, _MAX_DEPTH_M.get(set_name, 80.0))
    return depth_metrics(clipped, truth_m, scored_pixels(set_name, truth_m)).abs_rel


def summary(errors: Sequence[float]) -> dict[str, float]:
    """Mean over images, its standard error where there are two or more, and how many."""
    spread = {"standard_error": round(float(np.std(errors, ddof=1) / len(errors) ** 0.5), 5)} if len(errors) > 1 else {}
    return {"abs_rel": round(float(np.mean(errors)), 5), **spread, "images": len(errors)}


def results_folder(protocol: str) -> Path:
    return Path("results") / f"{protocol}--{num_cores()}cores-{platform.machine()}--{_today()}"


def write_results(path: Path, **content: Any) -> None:
    """Writes a results file with the command, date, machine, commit and versions that made it."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    record = {
        "command": " ".join(["python -m", f"benchmarks.{Path(sys.argv[0]).stem}", *sys.argv[1:]]),
        "date": _today(),
        "machine": f"{num_cores()}cores-{platform.machine()}",
        "commit": commit.stdout.strip(),
    }
    write_json(path, {**record, **content, "versions": versions()})


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()

"""What the accuracy benchmarks share: which pixels count, which anchors are drawn, what a results file records."""

import datetime
import platform
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac import Anchors
from mrac.conventions import FloatArray
from mrac.io.files import write_json
from mrac.lab.commit import checkout_commit
from mrac.lab.data.manifest import Frame, rules_of
from mrac.lab.placement.random import Random
from mrac.metrics import score_depth
from mrac.result.folder import versions
from mrac.runtime.parallel import num_cores

_MACHINE: Final = f"{num_cores()}cores-{platform.machine()}"  # now: a study may limit its own process later


def truth_of(frame: Frame) -> FloatArray:
    """(H, W) metres, of an evaluation or a training pack; <= 0 where there is none."""
    return frame.depth_m(frame.truth_column)


def draw_anchors(frame: Frame, truth_m: FloatArray, num_anchors: int, seed: int) -> Anchors:
    """Anywhere with ground truth, from a seed sequence of the frame's name and the seed."""
    # Not `mrac.lab.seeds.generator`: the results that are published were drawn so.
    rng = np.random.default_rng([zlib.crc32(frame.name.encode()), seed])
    uv_px = Random()(truth_m > 0.0, num_anchors, rng)
    return Anchors(uv_px, truth_m[uv_px[:, 1], uv_px[:, 0]])


def abs_rel(set_name: str, depth_m: FloatArray, truth_m: FloatArray) -> float:
    rules = rules_of(set_name)
    scored = rules.scored(truth_m)
    return score_depth(depth_m, truth_m, scored, rules.min_depth_m, rules.max_depth_m).metrics.abs_rel


def summary(errors: Sequence[float]) -> dict[str, float]:
    """Mean over images, its standard error where there are two or more, and how many."""
    spread = {"standard_error": round(float(np.std(errors, ddof=1) / len(errors) ** 0.5), 5)} if len(errors) > 1 else {}
    return {"abs_rel": round(float(np.mean(errors)), 5), **spread, "images": len(errors)}


def results_folder(protocol: str) -> Path:
    return Path("results") / f"{protocol}--{_MACHINE}--{_today()}"


def write_results(path: Path, **content: Any) -> None:
    """Writes a results file with the command, date, machine, commit and versions that made it."""
    record = {
        "command": " ".join(["python -m", f"mrac.lab.studies.{study_of(Path(sys.argv[0]))}", *sys.argv[1:]]),
        "date": _today(),
        "machine": _MACHINE,
        "commit": checkout_commit(short=True),
    }
    write_json(path, {**record, **content, "versions": versions()})


def study_of(script: Path) -> str:
    """The name of the study that a script runs: of its module, or of its package."""
    return script.parent.name if script.stem == "__main__" else script.stem


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()

"""Small frames in a folder, and a job over them that needs no network."""

from pathlib import Path

import numpy as np
from PIL import Image

from mrac import Calibrator
from mrac.batch_jobs.job import Job
from mrac.batch_jobs.run import make_job

SIZE = (32, 24)


def write_frame(folder: Path, stem: str, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    path = folder / stem
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(rng.integers(0, 256, (SIZE[1], SIZE[0], 3), dtype=np.uint8)).save(path.with_suffix(".png"))
    rows = zip(rng.integers(0, SIZE[0], 9), rng.integers(0, SIZE[1], 9), rng.uniform(1.0, 3.0, 9), strict=True)
    path.with_suffix(".csv").write_text("u,v,z\n" + "".join(f"{u},{v},{z:.3f}\n" for u, v, z in rows))


def write_frames(folder: Path, number: int) -> Path:
    for index in range(number):
        write_frame(folder, f"f{index:03d}", index)
    return folder


def small_job(out: Path, method: str = "cfa_ols", gate: str = "none", format: str = "npz", check: str = "hash") -> Job:
    return make_job(Calibrator(method, foundation="none", gate=gate, head="nearest"), out, format=format, check=check)

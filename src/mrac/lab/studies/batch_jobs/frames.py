"""Frames for the measurements: training photographs made small, with readings of which a tenth are wrong."""

from pathlib import Path

import numpy as np
from PIL import Image

from mrac.conventions import ImageArray
from mrac.lab.data.manifest import read_manifest
from mrac.lab.studies.protocol import truth_of


def write_frames(data: Path, out: Path, number: int, size: tuple[int, int], num_anchors: int) -> None:
    """Writes `number` pairs 00000.jpg, 00000.csv of `size` (width, height); after the last photograph the first again.

    Frames of one photograph have other readings, so that no two frames have the same content.
    """
    photographs = list(read_manifest(data, "nyu"))
    out.mkdir(parents=True)
    for index in range(min(number, len(photographs))):
        frame = photographs[index]
        small: ImageArray = np.asarray(Image.fromarray(frame.image()).resize(size, Image.Resampling.BOX))
        truth_m = np.asarray(Image.fromarray(truth_of(frame).astype(np.float32)).resize(size, Image.Resampling.NEAREST))
        for copy in range(index, number, len(photographs)):
            Image.fromarray(small).save(out / f"{copy:05d}.jpg", quality=92)
            rng = np.random.default_rng(copy)
            u, v = (rng.integers(0, length, num_anchors) for length in size)
            z_m = truth_m[v, u] * np.where(np.arange(num_anchors) % 10, 1.0, rng.uniform(0.2, 0.6, num_anchors))
            lines = (f"{a},{b},{c:.4f}\n" for a, b, c in zip(u, v, z_m, strict=True))
            (out / f"{copy:05d}.csv").write_text("u,v,z\n" + "".join(lines), encoding="utf-8")

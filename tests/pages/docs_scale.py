"""docs/scale.md: a folder of small frames, each with readings of the same stem."""

import json
from pathlib import Path

import numpy as np
from PIL import Image

from tests.pages.run import Step

LAB = True  # processes of its own


def write(folder: Path) -> None:
    (folder / "frames").mkdir()
    v, u = np.mgrid[0:48, 0:64]
    pixels = np.stack([4 * u, 5 * v, 128 + 0 * u], axis=2).astype(np.uint8)
    for name in ("a", "b"):
        Image.fromarray(pixels).save(folder / "frames" / f"{name}.png")
        (folder / "frames" / f"{name}.csv").write_text("u,v,z\n5,5,2\n50,9,2.1\n30,40,1.9\n")


class Check:
    def __call__(self, step: Step) -> None:
        lines = (step.folder / "depth" / "manifest.jsonl").read_text().splitlines()
        assert [json.loads(line)["id"] for line in lines] == ["a", "b"]

    def finish(self) -> None:
        pass

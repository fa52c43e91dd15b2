"""docs/frames.md: a folder, a table and a video of small frames; each command leaves the files that the page names."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.pages.run import Step

NAMES = ("door", "hall")


def write(folder: Path) -> None:
    pytest.importorskip("av")
    from tests.mrac.io.test_video import write_video  # noqa: PLC0415  (needs the extra `video`)

    for name in ("frames", "readings"):
        (folder / name).mkdir()
    v, u = np.mgrid[0:48, 0:64]
    pixels = np.stack([4 * u, 5 * v, 128 + 0 * u], axis=2).astype(np.uint8)
    for name in NAMES:
        Image.fromarray(pixels).save(folder / "frames" / f"{name}.png")
        (folder / "readings" / f"{name}.csv").write_text("u,v,z\n5,5,2\n50,9,2.1\n30,40,1.9\n")
    for table, names in (("table.csv", NAMES), ("walk.csv", ("0", "2"))):
        rows = [f"{name},{a},{b},2" for name in names for a, b in ((5, 5), (50, 9), (30, 40))]
        (folder / table).write_text("\n".join(["frame,u,v,z_m", *rows]))
    write_video(folder / "walk.mkv", [pixels] * 3)


class Check:
    def __init__(self) -> None:
        self.home: Path | None = None

    def __call__(self, step: Step) -> None:
        self.home = step.folder
        assert step.stderr == ""

    def finish(self) -> None:
        home = self.home
        assert home is not None
        found = [path for folder in ("maps", "walk") for path in home.glob(f"{folder}/*")]
        written = {path.relative_to(home).as_posix() for path in found}
        maps = {f"maps/{name}.npz" for name in NAMES} | {"walk/000000.npz", "walk/000002.npz"}
        assert written == maps | {"maps/manifest.jsonl", "walk/manifest.jsonl"}
        assert {path.parent.name for path in home.glob("results/*/report.json")} == set(NAMES)
        assert {path.name for path in (home / "streamed").iterdir()} == {f"{name}.npz" for name in NAMES}

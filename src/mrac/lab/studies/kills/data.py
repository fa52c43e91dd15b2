"""Small inputs of the jobs, all of them crops of the demo's photograph and its measured depth."""

from pathlib import Path

import numpy as np
from PIL import Image

from mrac.lab.studies.recordings import HEIGHT, WIDTH, crops


def write_pack(folder: Path, sets: dict[str, int], truth: str) -> None:
    """A pack with a manifest.csv: so many crops of each set; `truth` is `gt` to measure on, `depth` to train on."""
    rows = [f"set,id,scene,rgb,{truth},{truth}_scale,{truth}_offset"]
    pictures = crops(sum(sets.values()))
    for name, num in sets.items():
        (folder / name).mkdir(parents=True)
        for i in range(num):
            image, mm = next(pictures)
            Image.fromarray(image).save(folder / name / f"{i}.png")
            Image.fromarray(mm).save(folder / name / f"{i}_depth.png")
            rows.append(f"{name},{i},{name}{i},{name}/{i}.png,{name}/{i}_depth.png,0.001,0")
    (folder / "manifest.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def write_frames(folder: Path, num: int, num_anchors: int = 50) -> None:
    """Pairs 000.png, 000.csv for `mrac batch`, a tenth of the readings wrong."""
    folder.mkdir(parents=True)
    for i, (image, mm) in enumerate(crops(num)):
        rng = np.random.default_rng(i)
        u, v = rng.integers(0, WIDTH, num_anchors), rng.integers(0, HEIGHT, num_anchors)
        z_m = mm[v, u] / 1000.0 * np.where(np.arange(num_anchors) % 10, 1.0, 0.4)
        lines = [f"{a},{b},{c:.3f}\n" for a, b, c in zip(u, v, z_m, strict=True) if c > 0.0]
        Image.fromarray(image).save(folder / f"{i:03d}.png")
        (folder / f"{i:03d}.csv").write_text("u,v,z\n" + "".join(lines), encoding="utf-8")

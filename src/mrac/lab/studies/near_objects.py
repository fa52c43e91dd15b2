"""Objects close to the camera that the network misses: the gate with `near_object_odds` and without, on fresh scenes.

    python -m mrac.lab.studies.near_objects --photographs ../shared/data/train --scenes 72

Rooms, streets, table tops and gardens of `lab/train/synthetic`, many with things close to the camera, of a seed that no
training used: exact depth, and no scene that the network has seen. Surfaces bear patches of the photographs. There are
50 readings anywhere, clean and too near. Columns: AbsRel of all pixels that have a depth under `_FARTHEST_M`, right
readings kept, wrong ones kept. The rule's constants were chosen on seed 987654.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from PIL import Image
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import Anchors, Calibrator
from mrac.conventions import FloatArray, ImageArray
from mrac.lab.data.manifest import read_manifest
from mrac.lab.placement.random import Random
from mrac.lab.studies.protocol import results_folder, write_results
from mrac.lab.train.foundation.rendered import render_frames
from mrac.outliers.base import Truth
from mrac.outliers.near import Near

_SIZE: Final = (480, 640)
_AT_ONCE: Final = 8  # scenes: 64 would take 20 GB at this size
_FARTHEST_M: Final = 60.0
_NUM_READINGS: Final = 50
_NUM_PHOTOGRAPHS: Final = 40
SHARES: Final = (0.0, 0.25, 0.4)
GATES: Final = {
    "default": "consensus_learned",
    "near_object_odds=0": "consensus_learned:near_object_odds=0",
    "no gate": "none",
}


class Score(NamedTuple):
    """Of one scene: AbsRel, the share of right readings kept, and of wrong ones."""

    abs_rel: float
    right_kept: float
    wrong_kept: float


def photographs(data: Path) -> torch.Tensor:
    """(M, 3, h, w) uint8 of a pack's first set, evenly over it, half as large as `_SIZE`."""
    frames = list(read_manifest(data))
    frames = [frame for frame in frames if frame.row["set"] == frames[0].row["set"]]
    chosen = frames[:: -(-len(frames) // _NUM_PHOTOGRAPHS)]
    small = [Image.fromarray(frame.image()).resize((_SIZE[1] // 2, _SIZE[0] // 2)) for frame in chosen]
    return torch.from_numpy(np.stack([np.array(one) for one in small])).permute(0, 3, 1, 2)


def scenes(num: int, pictures: torch.Tensor, seed: int) -> Iterator[tuple[ImageArray, FloatArray]]:
    """Images and their depth, metres, 0 where there is none."""
    for start in range(0, num, _AT_ONCE):
        frames = render_frames(min(_AT_ONCE, num - start), _SIZE, pictures, seed + start)
        for image, z_m in zip(frames.images, frames.z_m.numpy(), strict=True):
            yield image.permute(1, 2, 0).numpy(), np.where((z_m > 0.0) & (z_m < _FARTHEST_M), z_m, 0.0)


def scores(image: ImageArray, truth_m: FloatArray, calibrator: Calibrator, share: float, seed: int) -> Score:
    """Of one scene with that share of its readings too near."""
    rng, known = np.random.default_rng([seed, round(100 * share)]), truth_m > 0.0
    uv_px = Random()(known, _NUM_READINGS, rng)
    z_m = truth_m[uv_px[:, 1], uv_px[:, 0]].astype(np.float64)
    truth = Truth(uv_px=uv_px, z_m=z_m, truth_m=np.where(known, truth_m, np.nan), max_range_m=_FARTHEST_M)
    readings = Near()(truth, share, rng)
    out = calibrator(image, Anchors(uv_px, readings.z_m))
    error = np.abs(out.depth_m[known] / truth_m[known] - 1.0)
    kept, wrong = out.anchors.keep, readings.wrong
    return Score(float(error.mean()), float(kept[~wrong].mean()), float(kept[wrong].mean()) if wrong.any() else 0.0)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photographs", type=Path, required=True, help="a training pack, a folder with a manifest.csv")
    parser.add_argument("--scenes", type=int, default=72)
    parser.add_argument("--seed", type=int, default=1_000_003, help="of the scenes")
    parser.add_argument("--out", type=Path, default=results_folder("near-objects"))
    given = parser.parse_args(arguments)

    calibrators = {name: Calibrator(gate=gate) for name, gate in GATES.items()}
    found: dict[tuple[float, str], list[Score]] = {}
    drawn = scenes(given.scenes, photographs(given.photographs), given.seed)
    for number, (image, truth_m) in enumerate(track(drawn, "scenes", total=given.scenes)):
        if (truth_m > 0.0).mean() < 0.2:
            continue  # next to nothing but sky
        for share in SHARES:
            for name, calibrator in calibrators.items():
                found.setdefault((share, name), []).append(scores(image, truth_m, calibrator, share, number))
    num = len(next(iter(found.values())))
    table = Table("too near", "gate", "AbsRel", "right kept", "wrong kept", title=f"{num} rendered scenes")
    rows = []
    for (share, name), each in found.items():
        mean = Score(*(float(value) for value in np.mean(each, axis=0)))
        table.add_row(f"{share:.0%}", name, f"{mean.abs_rel:.4f}", f"{mean.right_kept:.1%}", f"{mean.wrong_kept:.1%}")
        rows.append({"share": share, "gate": name, **{key: round(value, 5) for key, value in mean._asdict().items()}})
    Console().print(table)
    write_results(given.out / "near_objects.json", scenes=num, rows=rows)


if __name__ == "__main__":
    main()

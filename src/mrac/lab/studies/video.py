"""Flicker of scale over the frames of a video: each frame by itself, and with what past frames tell.

    python -m mrac.lab.studies.video --data ../shared/data/eval --set tum

Readings are drawn anew in every frame, and a share of them made wrong as by the family `near`. With
m_t = median of ln(predicted / true depth) over the scored pixels of frame t, flicker is the standard deviation of
m_t − m_(t−1) over a sequence: what a viewer sees as pulsing, whatever constant error there may be. A sequence's frames
are those of one scene, in the manifest's order.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac import Anchors, Calibrator
from mrac.conventions import FloatArray, ImageArray
from mrac.lab.data.manifest import Frame, read_manifest, rules_of
from mrac.lab.studies.protocol import abs_rel, draw_anchors, results_folder, truth_of, write_results
from mrac.outliers.near import Near
from mrac.types import RelativeDepth
from mrac.video import VideoCalibrator

COUNTS: Final = (50, 10)
SHARES: Final = (0.0, 0.25)
WAYS: Final = ("frame", "video")


@dataclass(frozen=True)
class Shot:
    """One frame of a sequence, with its relative depth, which all conditions share."""

    frame: Frame
    image: ImageArray
    truth_m: FloatArray
    relative: RelativeDepth | None


@dataclass(frozen=True)
class Scores:
    """Of one sequence: median log ratio and AbsRel of each frame, and at which frames the state started anew."""

    level: list[float]
    abs_rel: list[float]
    cuts: list[str]

    @property
    def flicker(self) -> float:
        return flicker(self.level)


def flicker(level: Sequence[float]) -> float:
    """Standard deviation of the differences of successive median log ratios; 0 of fewer than three frames."""
    return float(np.std(np.diff(level))) if len(level) > 2 else 0.0


def log_ratio(set_name: str, depth_m: FloatArray, truth_m: FloatArray) -> float:
    """Median of ln(predicted / true depth) over the scored pixels."""
    scored = rules_of(set_name).scored(truth_m)
    return float(np.median(np.log(depth_m[scored] / truth_m[scored])))


def readings(shot: Shot, num: int, share: float, seed: int) -> Anchors:
    """`num` readings of a frame, a share of them too near."""
    anchors = draw_anchors(shot.frame, shot.truth_m, num, seed)
    rng = np.random.default_rng([seed, *shot.frame.name.encode()])
    wrong = rng.permutation(len(anchors))[: round(share * len(anchors))]
    near, z_m = Near(), anchors.z_m.copy()
    z_m[wrong] = np.maximum(z_m[wrong] * rng.uniform(near.low, near.high, wrong.size), near.floor_m)
    return Anchors(anchors.uv_px, z_m)


def scores_of(shots: Iterable[Shot], drawn: Iterable[Anchors], calibrator: Calibrator | VideoCalibrator) -> Scores:
    level, errors, cuts = [], [], []
    for shot, anchors in zip(shots, drawn, strict=True):
        depth_m = calibrator(shot.image, anchors, shot.relative).depth_m
        level.append(log_ratio(shot.frame.row["set"], depth_m, shot.truth_m))
        errors.append(abs_rel(shot.frame.row["set"], depth_m, shot.truth_m))
        cuts.append(calibrator.last.cut if isinstance(calibrator, VideoCalibrator) else "")
    return Scores(level, errors, cuts)


def sequences(data: Path, set_name: str, calibrator: Calibrator, limit: int | None) -> dict[str, list[Shot]]:
    """The frames of a set by scene, at most `limit` of each."""
    shots: dict[str, list[Shot]] = {}
    for frame in track(list(read_manifest(data, set_name)), description=set_name):
        scene = shots.setdefault(frame.row.get("scene", ""), [])
        if limit is None or len(scene) < limit:
            image = frame.image()
            scene.append(Shot(frame, image, truth_of(frame), calibrator.foundation(image)))
    return shots


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a manifest.csv")
    parser.add_argument("--set", default="tum", help="of the manifest; its scenes are the sequences")
    parser.add_argument("--counts", type=int, nargs="+", default=list(COUNTS), help="readings per frame")
    parser.add_argument("--shares", type=float, nargs="+", default=list(SHARES), help="of them too near")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--limit", type=int, default=None, help="frames per sequence")
    parser.add_argument("--method", default="default")
    parser.add_argument("--out", type=Path, default=results_folder("video"))
    given = parser.parse_args(arguments)

    calibrator = Calibrator(given.method)
    table = Table("sequence", "frames", "K", "too near", "flicker", "video", "lower by", "AbsRel", "video", "cuts")
    rows = []
    for scene, shots in sequences(given.data, given.set, calibrator, given.limit).items():
        for num, share in ((num, share) for num in given.counts for share in given.shares):
            found: dict[str, list[Scores]] = {way: [] for way in WAYS}
            for seed in given.seeds:
                drawn = [readings(shot, num, share, seed) for shot in shots]
                found["frame"].append(scores_of(shots, drawn, calibrator))
                found["video"].append(scores_of(shots, drawn, VideoCalibrator(calibrator)))
            row = row_of(found)
            rows.append({"scene": scene, "frames": len(shots), "K": num, "near": share, **row})
            cells = [f"{row[key]:.4f}" for key in ("flicker", "flicker_video", "abs_rel", "abs_rel_video")]
            lower = f"{row['flicker'] / row['flicker_video']:.2f} ×" if row["flicker_video"] else ""
            cells = [*cells[:2], lower, *cells[2:], f"{row['cuts']:g}"]
            table.add_row(scene, str(len(shots)), str(num), f"{share:.0%}", *cells)
    Console(width=120).print(table)
    write_results(given.out / f"{given.data.name}-{given.set}.json", seeds=given.seeds, method=given.method, rows=rows)


def row_of(found: dict[str, list[Scores]]) -> dict[str, float]:
    """Flicker (root mean square over the seeds) and mean AbsRel, by way; cuts after the first frame, per seed."""
    row: dict[str, float] = {}
    for way, suffix in zip(WAYS, ("", "_video"), strict=True):
        row[f"flicker{suffix}"] = round(float(np.sqrt(np.mean([s.flicker**2 for s in found[way]]))), 5)
        row[f"abs_rel{suffix}"] = round(float(np.mean([s.abs_rel for s in found[way]])), 5)
    row["cuts"] = float(np.mean([sum(map(bool, s.cuts[1:])) for s in found["video"]]))
    return row


if __name__ == "__main__":
    main()

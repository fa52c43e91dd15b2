"""How often each usual mistake is noticed, and how often a check speaks up where there is none.

    python -m mrac.lab.studies.mistakes --data ../shared/data/eval --data ../shared/data/wild --draws 200

A draw is an image with readings of its truth; each mistake is made in every draw. Noticed: the check of that name
speaks. False alarms: it speaks on the same draws without a mistake, and with a share of wrong readings.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from mrac import Anchors, registry
from mrac.camera import Camera
from mrac.checks import CHECKS, Evidence, find_mistakes
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.foundation._cached import predict
from mrac.lab.data.manifest import Frame, by_set, read_manifest, rules_of
from mrac.lab.studies.protocol import draw_anchors, results_folder, truth_of, write_results
from mrac.outliers import Truth
from mrac.relative import fill_invalid
from mrac.runtime.cache import default_store

SETS: Final = ("nyu", "kitti15", "sunrgbd", "tum", "tabletop", "kitti_seq", "hololens", "mosd", "redkitchen")
# Focal length as a share of the image's width, about: Kinect, KITTI, Kinect v2 of SUN RGB-D; others 0.9.
FOCAL: Final = {
    "nyu": 518.9 / 640,
    "tum": 525 / 640,
    "kitti15": 721.5 / 1242,
    "kitti_seq": 721.5 / 1242,
    "sunrgbd": 0.72,
}
OTHER_SIZES: Final = (1 / 3, 1 / 2, 3 / 2, 2.0)
Mistake = Callable[[Evidence, np.random.Generator], Anchors]


def _units(per_metre: float) -> Mistake:
    return lambda e, _: Anchors(e.anchors.uv_px, e.anchors.z_m * per_metre)


def _moved(move: Callable[[FloatArray, FloatArray, int, int], tuple[FloatArray, FloatArray]]) -> Mistake:
    def make(e: Evidence, _: np.random.Generator) -> Anchors:
        (H, W), (u, v) = e.shape, e.anchors.uv_px.T
        return Anchors(np.stack(move(u, v, W, H), axis=1), e.anchors.z_m)

    return make


def _other_size(e: Evidence, rng: np.random.Generator) -> Anchors:
    factor = rng.choice(OTHER_SIZES)
    return Anchors((e.anchors.uv_px + 0.5) * factor - 0.5, e.anchors.z_m)


def _saturated(e: Evidence, rng: np.random.Generator) -> Anchors:
    """A fifth of the readings are the sensor's largest value."""
    z = e.anchors.z_m.copy()
    z[rng.permutation(z.size)[: z.size // 5]] = e.max_range_m
    return Anchors(e.anchors.uv_px, z)


def _clipped(e: Evidence, _: np.random.Generator) -> Anchors:
    """Points of a field of view half as wide again, clipped to the image."""
    H, W = e.shape
    middle = np.array([(W - 1) / 2, (H - 1) / 2])
    return Anchors(np.clip(middle + 1.5 * (e.anchors.uv_px - middle), 0, 2 * middle), e.anchors.z_m)


def _range(e: Evidence, _: np.random.Generator) -> Anchors:
    assert e.camera is not None
    return Anchors(e.anchors.uv_px, e.anchors.z_m * np.linalg.norm(e.camera.rays(e.anchors.uv_px), axis=1))


MISTAKES: Final[dict[str, tuple[str, Mistake]]] = {  # by what is printed: the check that should notice, and the mistake
    "units: mm": ("units", _units(1000.0)),
    "units: cm": ("units", _units(100.0)),
    "units: feet": ("units", _units(1 / 0.3048)),
    "units: km": ("units", _units(0.001)),
    "swapped_uv": ("swapped_uv", _moved(lambda u, v, W, H: (v, u))),
    "image_size": ("image_size", _other_size),
    "normalised_uv": ("normalised_uv", _moved(lambda u, v, W, H: ((u + 0.5) / W, (v + 0.5) / H))),
    "mirrored: left-right": ("mirrored", _moved(lambda u, v, W, H: (W - 1 - u, v))),
    "mirrored: top-bottom": ("mirrored", _moved(lambda u, v, W, H: (u, H - 1 - v))),
    "rotated: 180": ("rotated", _moved(lambda u, v, W, H: (W - 1 - u, H - 1 - v))),
    "rotated: 90": ("rotated", _moved(lambda u, v, W, H: (H - 1 - v, u))),
    "range_not_z": ("range_not_z", _range),
    "saturated": ("saturated", _saturated),
    "all_equal": ("all_equal", lambda e, _: Anchors(e.anchors.uv_px, np.full(len(e.anchors), 2.0))),
    "at_border": ("at_border", _clipped),
}


class Tally:
    """Counts over the draws of one set."""

    def __init__(self) -> None:
        self.draws, self.seconds = 0, list[float]()
        self.noticed: Counter[str] = Counter()
        self.any_name: Counter[str] = Counter()
        self.alarms: dict[str, Counter[str]] = {"clean": Counter(), "outliers": Counter()}

    def add(self, evidence: Evidence, wrong: Anchors, rng: np.random.Generator) -> None:
        """One draw: every mistake in it, and none. The sensor's range is only for making mistakes, not for checks."""
        self.draws += 1
        unaided = replace(evidence, max_range_m=None)
        start = time.perf_counter()
        self.alarms["clean"].update({finding.name for finding in find_mistakes(unaided)})
        self.seconds.append(time.perf_counter() - start)
        self.alarms["outliers"].update({f.name for f in find_mistakes(replace(unaided, anchors=wrong))})
        for label, (name, mistake) in MISTAKES.items():
            found = {f.name for f in find_mistakes(replace(unaided, anchors=mistake(evidence, rng)))}
            self.noticed[label] += name in found
            self.any_name[label] += bool(found)

    def summary(self) -> dict[str, object]:
        def share(counts: Counter[str], names: tuple[str, ...]) -> dict[str, float]:
            return {name: round(100.0 * counts[name] / self.draws, 2) for name in names}

        return {
            "draws": self.draws,
            "noticed_percent": share(self.noticed, tuple(MISTAKES)),
            "noticed_under_any_name_percent": share(self.any_name, tuple(MISTAKES)),
            "false_alarms_percent": {kind: share(counts, CHECKS) for kind, counts in self.alarms.items()},
            "milliseconds": round(1e3 * float(np.median(self.seconds)), 3),
        }


def measure(frames: list[Frame], arguments: argparse.Namespace) -> Tally:
    """So many draws, over as many different images of a set as there are."""
    foundation, store, tally = registry.create("foundation", arguments.foundation), default_store(), Tally()
    outliers = registry.create("outlier", "uniform")
    order = np.random.default_rng(arguments.seed).permutation(len(frames))
    per_image = -(-arguments.draws // len(frames))
    for i in order:
        frame = frames[i]
        set_name, truth_m, image = frame.row["set"], truth_of(frame), frame.image()
        relative, _ = predict(foundation, image, store)
        if relative is None:
            raise ContractError(f"studies/mistakes: {arguments.foundation} predicts nothing; a network is needed")
        H, W = image.shape[:2]
        f = FOCAL.get(set_name, 0.9) * W
        camera = Camera(f, f, (W - 1) / 2, (H - 1) / 2, W, H)
        for draw in range(min(per_image, arguments.draws - tally.draws)):
            rng = np.random.default_rng([arguments.seed, int(i), draw])
            anchors = draw_anchors(frame, truth_m, arguments.anchors, arguments.seed + draw)
            far = rules_of(set_name).max_range_m
            known = Truth(
                uv_px=anchors.uv_px,
                z_m=anchors.z_m,
                truth_m=np.where(truth_m > 0.0, truth_m, np.nan),
                max_range_m=far,
            )
            wrong = Anchors(anchors.uv_px, outliers(known, arguments.outliers, rng).z_m)
            field = fill_invalid(relative)[0]
            tally.add(Evidence(anchors, (H, W), field, relative.space, arguments.metric, camera, far), wrong, rng)
        if tally.draws >= arguments.draws:
            break
    return tally


def print_table(tallies: dict[str, Tally]) -> None:
    console = Console(width=160)
    table = Table("mistake", *tallies, title="noticed, % of draws (under any name)")
    for label in MISTAKES:
        cells = (
            f"{100 * t.noticed[label] / t.draws:.1f} ({100 * t.any_name[label] / t.draws:.1f})"
            for t in tallies.values()
        )
        table.add_row(label, *cells)
    console.print(table)
    table = Table("check", *tallies, title="false alarms, % of draws: clean / with wrong readings")
    for name in CHECKS:
        cells = (" / ".join(f"{100 * t.alarms[k][name] / t.draws:.1f}" for k in t.alarms) for t in tallies.values())
        table.add_row(name, *cells)
    table.add_row("ms a call", *(f"{1e3 * np.median(t.seconds):.2f}" for t in tallies.values()))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", required=True, help="folder with a manifest.csv")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--anchors", type=int, default=50)
    parser.add_argument("--outliers", type=float, default=0.25, help="share of wrong readings, of the family uniform")
    parser.add_argument("--foundation", default="embedded", metavar="SPEC")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=results_folder("mistakes"))
    arguments = parser.parse_args()
    arguments.metric = arguments.foundation.partition(":")[0] == "embedded"
    every = chain.from_iterable(map(read_manifest, arguments.data))
    frames = by_set(frame for frame in every if frame.row["set"] in arguments.sets)
    tallies = {name: measure(some, arguments) for name, some in frames.items()}
    print_table(tallies)
    results = {name: tally.summary() for name, tally in tallies.items()}
    write_results(arguments.out / f"seed{arguments.seed}.json", outliers=arguments.outliers, sets=results)


if __name__ == "__main__":
    main()

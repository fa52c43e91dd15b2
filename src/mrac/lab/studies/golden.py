"""Figures that may not change unnoticed: error, verdicts and coverage of the main methods on scenes that ship.

    python -m mrac.lab.studies.golden                      # compares with results/golden.json
    python -m mrac.lab.studies.golden --update --why "..."  # writes it anew; the reason is kept in the file

Needs nothing but the runtime and scikit-image, so that `make test` runs it: the photograph of the demo, the two frames
of the package, and a scene made here. The same 50 readings for all methods, clean and with a quarter of each family of
outliers. Other processors add in another order: hence the tolerances.
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from mrac import Anchors, Calibrator, examples, registry
from mrac.conventions import BoolArray, FloatArray, ImageArray
from mrac.io.files import write_whole
from mrac.lab.commit import checkout_commit
from mrac.metrics import coverage, depth_metrics, gate_metrics
from mrac.outliers import Truth

GOLDEN: Final = Path(__file__).parents[4] / "results" / "golden.json"
SCENES: Final = ("room", "street", "motorcycle", "made")
METHODS: Final[dict[str, dict[str, str]]] = {
    "default": {"method": "default"},
    "fast": {"method": "fast"},
    "mrac": {"method": "mrac"},
    "default --foundation none": {"method": "default", "foundation": "none"},
}
FAMILIES: Final = ("clean", "near", "uniform", "dropout", "mixed_pixel")
NUM_ANCHORS: Final = 50
SHARE: Final = 0.25
LEVEL: Final = 0.9
# Of AbsRel, relative; of the coverage, absolute; verdicts on readings that may differ.
ABS_REL: Final = 0.02
COVERAGE: Final = 0.02
VERDICTS: Final = 1
_MIN_WHY: Final = 12  # characters: "it changed" is no reason


class View(NamedTuple):
    """An image and its true depth in metres, NaN where there is none."""

    image: ImageArray
    depth_m: FloatArray
    max_range_m: float


class Row(NamedTuple):
    """One method on one scene under one family of outliers.

    Attributes:
        rejected: which readings, by number.
        f1: of the rejections; None without any outlier and any rejection.
        coverage: share of pixels whose truth lies in the central 90 %.
    """

    scene: str
    method: str
    family: str
    abs_rel: float
    f1: float | None
    coverage: float
    rejected: list[int]

    @property
    def name(self) -> str:
        """Scene, method and family."""
        return f"{self.scene}, {self.method}, {self.family}"


def view(scene: str) -> View:
    if scene == "made":
        return _made()
    frame = examples.load(scene)
    return View(frame.image, frame.depth_m, 80.0 if scene == "street" else 10.0)


def _made() -> View:
    """A floor, a wall and three boxes, with a texture that says nothing of depth."""
    H, W = 240, 320
    v, u = np.mgrid[0:H, 0:W].astype(np.float64)
    depth = np.minimum(4.0 + 0.004 * u, 1.5 / np.maximum((v - 90.0) / 150.0, 0.2))
    for at, top, left, high, wide in ((1.4, 140, 30, 80, 60), (2.1, 90, 150, 90, 50), (2.9, 60, 230, 70, 70)):
        depth[top : top + high, left : left + wide] = at
    light = 120.0 + 60.0 * np.sin(u / 9.0) * np.cos(v / 7.0)
    image = np.stack([light, light * 0.8 + depth * 12.0, 255.0 - depth * 40.0], axis=2)
    return View(np.clip(image, 0, 255).astype(np.uint8), depth, 10.0)


def readings(scene: str, seen: View, family: str) -> tuple[Anchors, BoolArray]:
    """The same places for every family, and which readings are wrong."""
    rng = np.random.default_rng([SCENES.index(scene), 19])
    v, u = np.nonzero(np.isfinite(seen.depth_m))
    chosen = rng.choice(v.size, NUM_ANCHORS, replace=False)
    uv_px = np.stack([u[chosen], v[chosen]], axis=1)
    z_m = seen.depth_m[v[chosen], u[chosen]].astype(np.float64)
    truth = Truth(uv_px=uv_px, z_m=z_m, truth_m=seen.depth_m, max_range_m=seen.max_range_m)
    if family == "clean":
        return Anchors(uv_px, z_m), np.zeros(NUM_ANCHORS, np.bool_)
    z_m, wrong = registry.create("outlier", family)(truth, SHARE, rng)
    return Anchors(uv_px, z_m), wrong


def measure(scenes: tuple[str, ...] = SCENES) -> Iterator[Row]:
    """The rows of some scenes; a network sees each image once."""
    for scene in scenes:
        seen = view(scene)
        valid = np.isfinite(seen.depth_m)
        for method, options in METHODS.items():
            calibrator = Calibrator(**options)
            relative = calibrator.foundation(seen.image)
            for family in FAMILIES:
                anchors, wrong = readings(scene, seen, family)
                out = calibrator(seen.image, anchors, relative)
                inside = coverage(out.depth_m, out.sigma_m, seen.depth_m, valid, (LEVEL,))[LEVEL]
                yield Row(
                    scene,
                    method,
                    family,
                    round(depth_metrics(out.depth_m, seen.depth_m, valid).abs_rel, 5),
                    gate_metrics(out.anchors.keep, wrong).f1,
                    round(inside, 4),
                    np.flatnonzero(~out.anchors.keep).tolist(),
                )


def differences(stored: Row, found: Row) -> list[str]:
    """What of a row is farther from the stored one than another processor explains, in words."""
    said = []
    if abs(found.abs_rel - stored.abs_rel) > ABS_REL * stored.abs_rel:
        said.append(f"AbsRel {stored.abs_rel:.5f} -> {found.abs_rel:.5f}")
    if abs(found.coverage - stored.coverage) > COVERAGE:
        said.append(f"coverage of 90 % {stored.coverage:.4f} -> {found.coverage:.4f}")
    moved = sorted(set(stored.rejected) ^ set(found.rejected))
    if len(moved) > VERDICTS:
        said.append(f"verdicts on readings {moved}, F1 {_shown(stored.f1)} -> {_shown(found.f1)}")
    return [f"{stored.name}: {words}" for words in said]


def _shown(f1: float | None) -> str:
    return "none" if f1 is None else f"{f1:.3f}"


def read(path: Path = GOLDEN) -> dict[str, Row]:
    """The stored rows by name."""
    rows = [Row(**row) for row in json.loads(path.read_bytes())["rows"]]
    return {row.name: row for row in rows}


def write(rows: list[Row], why: str, path: Path = GOLDEN) -> None:
    """Writes the file anew; its reasons are kept, the newest first."""
    before: list[Any] = json.loads(path.read_bytes())["changes"] if path.is_file() else []
    change = {
        "date": datetime.now(UTC).date().isoformat(),
        "why": why,
        "commit": checkout_commit(short=True),
        "machine": platform.machine(),
        "versions": {name: version(name) for name in ("numpy", "scipy", "numba", "onnxruntime")},
    }
    lines = ",\n    ".join(
        json.dumps(row._asdict()) for row in rows
    )  # one on a line: so a comparison shows which moved
    head = json.dumps({"changes": [change, *before]}, indent=2).removesuffix("\n}")
    write_whole(path, lambda file: file.write(f'{head},\n  "rows": [\n    {lines}\n  ]\n}}\n'.encode()))


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares the golden figures with this code, or writes them anew.")
    parser.add_argument("--update", action="store_true")
    parser.add_argument(
        "--why", default="", help="needed with --update: what changed the figures, and why that is right"
    )
    options = parser.parse_args()
    if options.update and len(options.why.strip()) < _MIN_WHY:
        parser.error(f"--update needs --why: in {_MIN_WHY} characters or more, what changed and why that is right")
    rows = list(measure())
    stored = read() if GOLDEN.is_file() else {}
    changed = [
        line for row in rows for line in (differences(stored[row.name], row) if row.name in stored else [row.name])
    ]
    sys.stdout.write("".join(f"{line}\n" for line in changed))
    sys.stdout.write(f"{len(rows)} rows, {len(changed)} differences\n")
    if options.update:
        write(rows, options.why.strip())
        return 0
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())

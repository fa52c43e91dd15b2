"""How much each constant of the gate `consensus` matters: verdicts and errors with it halved and doubled.

    python -m mrac.lab.studies.gate_constants --data ../shared/data/train --limit 20

Constants that are no options, of `mrac.gate.consensus`. Training images, upright and upside down (which no network has
seen), 50 anchors each: clean, and with 25 % of near and of uniform outliers. It reports the share of verdicts that
change, and of wrong verdicts (outliers kept, inliers rejected); a constant whose halving and doubling change little
needs no better value.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mrac.conventions import BoolArray, FloatArray
from mrac.foundation.embedded import Embedded
from mrac.gate import consensus
from mrac.gate.consensus import Consensus, initialisation, model
from mrac.gp.features import ImageAppearance
from mrac.lab.data.manifest import Frame, read_manifest
from mrac.lab.studies.protocol import draw_anchors, results_folder, truth_of, write_results
from mrac.outliers.base import Truth
from mrac.outliers.near import Near
from mrac.outliers.uniform import Uniform
from mrac.relative import sample_bilinear, typical_range
from mrac.types import Samples

_OF_START: Final = ("_HOT", "_WARM", "_VOTE_STD", "_INLIER_STD", "_APART", "_SEARCHED", "_DISTINCT", "_CARRIED_ON")
_OF_MODEL: Final = ("_ANYWHERE", "_FLOOR", "_KIND_COUNTS", "_SHIFT_STD", "_COOLING", "_CLUSTER_RADIUS")
_OF_SENTINEL: Final = ("_SENTINEL", "_SENTINEL_COUNT", "_SENTINEL_SHARE", "_SENTINEL_ALONE")
CONSTANTS: Final[tuple[tuple[ModuleType, tuple[str, ...]], ...]] = (
    (initialisation, (*_OF_START, "_SEARCH_ROUNDS")),
    (model, (*_OF_MODEL, *_OF_SENTINEL, "_DENSE", "_MIN_INLIER")),
    (consensus, ("_ROUNDS", "_TEMPERATURE", "FACTORS")),
)
_NUM_ANCHORS: Final = 50


class Case(NamedTuple):
    """Readings of one image, and which of them are outliers."""

    samples: Samples
    image: ImageAppearance
    relative: FloatArray
    outlier: BoolArray


def cases_of(frame: Frame, foundation: Embedded) -> Iterator[Case]:
    """Clean and corrupted readings, the image upright and upside down."""
    truth_m = truth_of(frame)
    anchors = draw_anchors(frame, truth_m, _NUM_ANCHORS, 0)
    for upside_down in (False, True):
        image = np.ascontiguousarray(frame.image()[::-1] if upside_down else frame.image())
        field = foundation(image).values
        uv_px = anchors.uv_px.copy()
        if upside_down:
            uv_px[:, 1] = truth_m.shape[0] - 1 - uv_px[:, 1]
        truth = Truth(uv_px=anchors.uv_px, z_m=anchors.z_m, truth_m=truth_m, max_range_m=10.0)
        corrupted = [(anchors.z_m, np.zeros(len(anchors), np.bool_))]
        corrupted += [family(truth, 0.25, np.random.default_rng(0))[:2] for family in (Near(), Uniform())]
        for z_m, outlier in corrupted:
            x = sample_bilinear(field, uv_px)
            weight = np.ones(len(anchors))
            samples = Samples(uv_px, z_m, x, "log_depth", True, weight, x_range=typical_range(field))
            yield Case(samples, ImageAppearance(image), field, outlier)


def verdicts(cases: list[Case]) -> BoolArray:
    """(N,) of all readings of all cases."""
    return np.concatenate([Consensus()(case.samples, case.image, case.relative).keep for case in cases])


@contextmanager
def changed(module: ModuleType, name: str, factor: float) -> Iterator[None]:
    """A constant times a factor; whole numbers stay whole, at least one."""
    before = getattr(module, name)

    def times(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(times, value))
        return (
            max(1, round(value * factor)) if isinstance(value, int) else min(value * factor, 0.95 if value < 1 else 1e9)
        )

    setattr(module, name, times(before))
    try:
        yield
    finally:
        setattr(module, name, before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a manifest.csv")
    parser.add_argument("--sets", nargs="+", default=["nyu", "kitti15"])
    parser.add_argument("--limit", type=int, default=20, help="images per set")
    parser.add_argument("--out", type=Path, default=results_folder("gate-constants"))
    arguments = parser.parse_args()
    foundation = Embedded()
    cases: list[Case] = []
    for name in arguments.sets:
        for frame in track(list(read_manifest(arguments.data, name))[: arguments.limit], description=name):
            cases += cases_of(frame, foundation)
    outlier, base = np.concatenate([case.outlier for case in cases]), verdicts(cases)
    result = {"default": {"wrong_verdicts": round(float((base == outlier).mean()), 4)}}
    table = Table("constant", "factor", "verdicts changed", "wrong verdicts", title=f"{outlier.size} readings")
    for module, names in CONSTANTS:
        for name in track(names, description=module.__name__):
            for factor in (0.5, 2.0):
                with changed(module, name, factor):
                    keep = verdicts(cases)
                row = {"changed": float((keep != base).mean()), "wrong_verdicts": float((keep == outlier).mean())}
                result[f"{name} × {factor:g}"] = {key: round(value, 4) for key, value in row.items()}
                table.add_row(name, f"{factor:g}", f"{row['changed']:.2%}", f"{row['wrong_verdicts']:.2%}")
    Console().print(table, f"default: {result['default']['wrong_verdicts']:.2%} wrong verdicts")
    write_results(arguments.out / "gate-constants.json", num_readings=int(outlier.size), rows=result)


if __name__ == "__main__":
    main()

"""Made-up rows of runs for the tests of `beyond`."""

from collections.abc import Callable, Iterable
from typing import Any

from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.studies.beyond.anchor_count import BUDGETS
from mrac.lab.studies.beyond.pairs import CONDITIONS, OURS
from mrac.lab.studies.claim import SETS

Row = dict[str, Any]
IMAGES = "abcdefgh"
NARROW, WIDE = f"{OURS};gate=consensus:amplitude=0.11", f"{OURS};head=kriging:relative_length=1.6"


def row(set_name: str, method: str, abs_rel: float | None, **more: Any) -> Row:
    given: Row = {
        "set": set_name, "method": method, "family": "none", "fraction": 0.0, "num_anchors": 50, "seed": 0,
        "placement": "random", "source": "truth", "image": "a", "abs_rel": abs_rel, "gate_precision": 0.8,
        "gate_recall": 0.5, "gate_f1": 0.6, "num_wrong": 10, "num_rejected": 10, "anchors_hash": "x", "status": "ok",
        "failure": None,
    }  # fmt: skip
    return given | more


def results(rows: Iterable[Row]) -> Results:
    rows = list(rows)
    return Results({name: [one[name] for one in rows] for name in rows[0]})


def grid(method: str, error: float | Callable[[CellKey], float], images: str = IMAGES) -> list[Row]:
    """Rows of the whole grid, images unlike each other by a factor that all methods share."""
    return [
        row(c.set, method, (error(c) if callable(error) else error) * (1.0 + 0.1 * i), family=c.family,
            fraction=c.fraction, image=image)
        for c in CONDITIONS
        for i, image in enumerate(images)
    ]  # fmt: skip


def sweep(method: str, error: Callable[[int], float], budgets: Iterable[int] = BUDGETS) -> list[Row]:
    return [row(s, method, error(K), num_anchors=K, image=image) for s in SETS for K in budgets for image in IMAGES]


def readings(method: str, error: float, f1: float) -> list[Row]:
    kinds = [("natural", 0.0, 0), ("enriched", 0.0, 0), ("enriched", 0.25, 10)]
    return [
        row("kitti15", method, error, source="lidar", family=family, fraction=p, num_wrong=wrong, gate_f1=f1,
            seed=seed, image=image, gate_recall=0.5 if wrong else None)
        for family, p, wrong in kinds for seed in (0, 1) for image in "ab"
    ]  # fmt: skip

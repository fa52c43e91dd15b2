"""Made-up rows of runs, and the paper's own figures as rows, for the tests of the claims."""

from collections.abc import Iterable, Mapping
from typing import Any

from mrac.lab.bench.report.paper import read_rows
from mrac.lab.bench.report.results import Results
from mrac.lab.studies.claim import LEARNER, Claim, grid
from mrac.lab.studies.claims import abstract, real, robustness, substrate

Row = dict[str, Any]
ALL: tuple[Claim, ...] = (
    *abstract.CLAIMS, *robustness.CLAIMS, *substrate.CLAIMS, *real.QUESTIONS
)  # fmt: skip
OURS = {"nyuv2": "nyu", "kitti": "kitti15", "sunrgbd": "sunrgbd", "diode": "tum", "vi_depth": "sml_retrained"}
HEADLINE = ("headline", "clean", "limits")
ERRORS = {"vanilla": 0.3, "b_prime": 0.29, "mrac": 0.2, "mrac_b_prime": 0.1, LEARNER: 0.15}


def row(set_name: str, method: str, abs_rel: float | None, **more: Any) -> Row:
    given: Row = {
        "set": set_name, "method": method, "family": "none", "fraction": 0.0, "num_anchors": 50, "seed": 0,
        "placement": "random", "source": "truth", "image": "a", "abs_rel": abs_rel, "gate_precision": 0.8,
        "gate_recall": 0.7, "gate_f1": 0.74, "num_anchors_given": 50, "num_wrong": 12, "num_rejected": 10,
        "anchors_hash": "x", "time_ms": 10.0, "failure": None,
    }  # fmt: skip
    return given | more


def results(rows: Iterable[Row]) -> Results:
    rows = list(rows)
    return Results({name: [one[name] for one in rows] for name in rows[0]})


def printed(*files: str, seeds: Iterable[int] = (0,)) -> list[Row]:
    """The paper's own numbers as if they were a run; what two files state is taken from the first."""
    found: dict[tuple[Any, ...], Row] = {}
    for name in files:
        for one in (one for one in read_rows(name) if one["set"]):  # a mean over sets is no cell
            set_name, method = OURS[one["set"]], OURS.get(one["method"], one["method"])
            condition: Row = {name: one[name] for name in ("family", "placement")}
            condition |= {"fraction": float(one["fraction"]), "num_anchors": int(one["num_anchors"])}
            made = found.setdefault(
                (name, set_name, method, *condition.values()), row(set_name, method, None, **condition)
            )
            made[one["metric"]] = float(one["value"])
    once: dict[tuple[Any, ...], Row] = {}
    for key, made in found.items():
        once.setdefault(key[1:], made)
    return [made | {"seed": seed} for made in once.values() for seed in seeds]


def claim(test: Any) -> Claim:
    return next(one for one in ALL if one.test is test)


def whole(error: Mapping[str, float], images: Iterable[str] = ("a", "b")) -> list[Row]:
    cells = {(c.set, c.stored.family, c.fraction) for c in grid()}
    return [
        row(s, method, e, family=f, fraction=p, image=image)
        for s, f, p in sorted(cells)
        for method, e in error.items()
        for image in images
    ]

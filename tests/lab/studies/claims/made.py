"""Made-up rows of runs, and the paper's own figures as rows, for the tests of the claims."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from mrac.lab.bench.report.paper import read_rows
from mrac.lab.bench.report.results import Results
from mrac.lab.studies.claim import LEARNER, SEEDS, Claim, grid
from mrac.lab.studies.claims.page import all_claims

Row = dict[str, Any]
ALL: dict[str, Claim] = {one.name: one for claims in all_claims(Path("nowhere")).values() for one in claims}
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


def headline() -> list[Row]:
    """Tables I, II and IV and the text's figures at 40 %, as three seeds."""
    return printed(*HEADLINE, seeds=SEEDS)


def moved(rows: Iterable[Row], where: Callable[[Row], Any], **columns: Any) -> list[Row]:
    """The rows, with other values in those that `where` picks."""
    return [one | columns if where(one) else one for one in rows]


def whole(error: Mapping[str, float], images: Iterable[str] = ("a", "b")) -> list[Row]:
    cells = {(c.set, c.stored.family, c.fraction) for c in grid()}
    return [
        row(s, method, e, family=f, fraction=p, image=image)
        for s, f, p in sorted(cells)
        for method, e in error.items()
        for image in images
    ]


def papers_grid() -> list[Row]:
    """Five methods in every cell so that they win and lose as Table III, Table IV and Sec. V-E and V-F count.

    The source at hand has the captions of the 16 complete tables only: of a cell the order of the methods is the
    paper's, as far as it says it, the errors are not.
    """
    rows = []
    for s, family, p in sorted({(c.set, c.stored.family, c.fraction) for c in grid()}):
        kitti, clean, near = s == "kitti15", p == 0.0, family == "near"
        gate_loses = (clean and s in ("nyu", "sunrgbd")) or (kitti and near and p > 0.1)
        augmentation_loses = (kitti and clean) or (near and not kitti and p < 0.4 and s != "tum")
        augmentation_loses |= (near and s == "tum" and p == 0.4) or (family == "mixed_pixel" and s == "tum")
        learner_loses = (kitti and clean) or (near and s != "sunrgbd")
        learner_wins = not kitti and (clean or family in ("uniform", "mixed_pixel"))
        learner_wins |= s == "tum" and family == "dropout" and p == 0.25  # Table I
        learner_wins &= (s, family, p) != ("nyu", "uniform", 0.4)
        augmented, vanilla = 1.0, 0.9 if augmentation_loses else 1.1
        learner = 1.5 if learner_loses else 0.7
        gated = 1.2 if gate_loses else 0.85 if learner_wins else 0.5
        errors = {"vanilla": vanilla, "b_prime": augmented, LEARNER: learner, "mrac_b_prime": gated}
        errors["mrac"] = vanilla * (1.2 if gate_loses else 0.8)
        rows += [row(s, m, e, family=family, fraction=p) for m, e in errors.items()]
    return rows

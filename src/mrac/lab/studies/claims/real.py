"""What the paper leaves open: real outliers, where nothing is injected, and other foundations."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from mrac.lab.bench.report.labels import foundation, percent
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.studies.claim import LEARNER, SEEDS, SETS, Claim, NotRunError, Outcome, abs_rel, mean, number

_ENRICHED: Final = (0.1, 0.25, 0.4)
SOURCES: Final = {"lidar": "kitti15", "stereo": "kitti15", "sensor": "cleargrasp"}


def levels(source: str) -> dict[str, CellKey]:
    """As they come, then enriched with readings that are really wrong."""
    natural = CellKey(set=SOURCES[source], method="", family="natural", source=source)
    return {"natural": natural} | {percent(p): replace(natural, family="enriched", fraction=p) for p in _ENRICHED}


def compared(source: str, ours: str, theirs: str) -> Callable[[Results], Outcome]:
    """Whether one method has the lower AbsRel at every level, mean over three seeds."""

    def test(results: Results) -> Outcome:
        here, parts = [], []
        for level, cell in levels(source).items():
            a, b = (abs_rel(results, replace(cell, method=method), SEEDS) for method in (ours, theirs))
            here.append(f"{level} {number(a)} / {number(b)}")
            parts.append(a < b)
        return Outcome(f"`{ours}` / `{theirs}`: {', '.join(here)}", tuple(parts))

    return test


def real_recall(results: Results) -> Outcome:
    here, parts = [], []
    for source in SOURCES:
        cell = replace(levels(source)[percent(0.25)], method="mrac")
        precision, recall = (mean(results, f"gate_{metric}", cell, SEEDS) for metric in ("precision", "recall"))
        here.append(f"{source} {precision:.2f} / {recall:.2f}")
        parts.append(recall >= 0.64)
    return Outcome(f"precision / recall: {', '.join(here)}", tuple(parts))


# Of two methods, the first has the gate of the second: what the question is about, foundation by foundation.
_GATED: Final = {
    "cfa_ols{};gate=theil_sen_mad": "cfa_ols{}",
    "mrac{}": "vanilla{}",
    "default{}": "default{};gate=none",
}

_OURS: Final = ("embedded", "none")


def any_foundation(results: Results) -> Outcome:
    """Foundations that could not be loaded are named, not counted; pairs that nobody ran are passed over."""
    known = {cell.method for cell in results.cells}
    specs = ["", *sorted({f";foundation={foundation(method)}" for method in known if foundation(method)})]
    here, parts, absent = [], [], []
    for gated, trusting in _GATED.items():
        shown = []
        for spec in specs:
            pair = gated.format(spec), trusting.format(spec)
            name = spec.partition("=")[2] or "embedded"
            if not set(pair) <= known:
                continue
            errors = [mean_over_sets(results, method) for method in pair]
            if math.isnan(errors[0]):  # every image failed
                absent.append(name)
                continue
            shown.append(f"{name} {number(errors[0])} / {number(errors[1])}")
            parts.append(errors[0] < errors[1])
        if shown:
            here.append(f"`{trusting.format('').partition(';')[0]}` {', '.join(shown)}")
    if len(parts) < 2:
        raise NotRunError("cross_foundation")
    missing = f"; not here: {', '.join(dict.fromkeys(absent))}" if absent else ""
    others = any(name not in absent and not name.startswith(_OURS) for name in (s.partition("=")[2] for s in specs[1:]))
    alone = "" if others else "; no network but ours was here"
    return Outcome(f"mean over sets, gate / none: {'; '.join(here)}{missing}{alone}", (*parts, others))


def mean_over_sets(results: Results, method: str) -> float:
    """AbsRel with 25 % near readings, each set weighing the same."""
    cells = [CellKey(set=s, method=method, family="near", fraction=0.25) for s in SETS]
    return sum(abs_rel(results, cell) for cell in cells) / len(cells)


def _question(source: str, what: str) -> Claim:
    return Claim(
        name=f"{source}_gate_helps",
        place=source,
        says=f"Does the gate help the paper's head against {what}?",
        holds_when="`mrac` is under `vanilla` as they come and at 10, 25 and 40 % really wrong",
        protocol="real_outliers",
        test=compared(source, "mrac", "vanilla"),
    )


def _against_learner(source: str, holds_when: str) -> Claim:
    return Claim(
        name=f"{source}_beats_learner",
        place=source,
        says="Does MRAC beat VI-Depth's learner on real outliers, as on injected ones?",
        holds_when=holds_when,
        protocol="real_outliers",
        test=compared(source, "mrac_b_prime", LEARNER),
    )


QUESTIONS: Final = (
    _question("lidar", "lidar that sees through edges (KITTI-15)"),
    _question("stereo", "mismatched stereo (KITTI-15)"),
    _question("sensor", "a depth camera behind glass (ClearGrasp, two frames)"),
    _against_learner("lidar", "`mrac_b_prime` is under the learner as they come and at 10, 25 and 40 % really wrong"),
    _against_learner("stereo", "as above"),
    Claim(
        name="real_recall",
        place="all three",
        says="Does the gate find really wrong readings as well as injected ones (the paper's worst recall: 0.64)?",
        holds_when="recall at least 0.64 at 25 % really wrong, for each sensor",
        protocol="real_outliers",
        test=real_recall,
    ),
    Claim(
        name="any_foundation",
        place="Sec. IX-C",
        says="Does the gate help whatever the foundation?",
        holds_when="near 25 %, mean over sets: lower with a gate than without, for each foundation and method; and "
        "another network than ours is among them",
        protocol="cross_foundation",
        test=any_foundation,
    ),
)

"""What the paper leaves open: real outliers, where nothing is injected, and other foundations."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from benchmarks.claim import SEEDS, SETS, Claim, NotRunError, Outcome, abs_rel, mean, number
from benchmarks.claims_abstract import LEARNER
from mrac.bench.report.labels import percent
from mrac.bench.report.results import CellKey, Results

_ENRICHED: Final = (0.1, 0.25, 0.4)
_SOURCES: Final = {"lidar": "kitti15", "stereo": "kitti15", "sensor": "cleargrasp"}


def levels(source: str) -> dict[str, CellKey]:
    """As they come, then enriched with readings that are really wrong."""
    natural = CellKey(set=_SOURCES[source], method="", family="natural", source=source)
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
    for source in _SOURCES:
        cell = replace(levels(source)[percent(0.25)], method="mrac")
        precision, recall = (mean(results, f"gate_{metric}", cell, SEEDS) for metric in ("precision", "recall"))
        here.append(f"{source} {precision:.2f} / {recall:.2f}")
        parts.append(recall >= 0.64)
    return Outcome(f"precision / recall: {', '.join(here)}", tuple(parts))


def any_foundation(results: Results) -> Outcome:
    """Foundations that could not be loaded are named, not counted."""
    prefix = "default;foundation="
    known = sorted({cell.method for cell in results.cells})
    methods = [m for m in known if m.startswith(prefix) and not m.endswith(";gate=none")]
    here, parts, absent = [], [], []
    for method in ["default", *methods]:
        spec = method.removeprefix(prefix) if method != "default" else "embedded"
        errors = {}
        for gate in ("", ";gate=none"):
            cells = [CellKey(set=s, method=method + gate, family="near", fraction=0.25) for s in SETS]
            errors[gate] = sum(abs_rel(results, cell) for cell in cells) / len(cells)
        if math.isnan(errors[""]):  # every image failed
            absent.append(spec)
            continue
        gated, trusting = errors[""], errors[";gate=none"]
        here.append(f"{spec} {number(gated)} / {number(trusting)}")
        parts.append(gated < trusting)
    if not parts:
        raise NotRunError("cross_foundation")
    missing = f"; not here: {', '.join(absent)}" if absent else ""
    return Outcome(f"`default`, mean over sets, gate / none: {', '.join(here)}{missing}", tuple(parts))


def _question(source: str, what: str) -> Claim:
    return Claim(
        place=source,
        says=f"Does the gate help the paper's head against {what}?",
        holds_when="`mrac` is under `vanilla` as they come and at 10, 25 and 40 % really wrong",
        protocol="real_outliers",
        test=compared(source, "mrac", "vanilla"),
    )


QUESTIONS: Final = (
    _question("lidar", "lidar that sees through edges (KITTI-15)"),
    _question("stereo", "mismatched stereo (KITTI-15)"),
    _question("sensor", "a depth camera behind glass (ClearGrasp, two frames)"),
    Claim(
        place="lidar",
        says="Does MRAC beat VI-Depth's learner on real outliers, as on injected ones?",
        holds_when="`mrac_b_prime` is under the learner as they come and at 10, 25 and 40 % really wrong",
        protocol="real_outliers",
        test=compared("lidar", "mrac_b_prime", LEARNER),
    ),
    Claim(
        place="stereo",
        says="Does MRAC beat VI-Depth's learner on real outliers, as on injected ones?",
        holds_when="as above",
        protocol="real_outliers",
        test=compared("stereo", "mrac_b_prime", LEARNER),
    ),
    Claim(
        place="all three",
        says="Does the gate find really wrong readings as well as injected ones (the paper's worst recall: 0.64)?",
        holds_when="recall at least 0.64 at 25 % really wrong, for each sensor",
        protocol="real_outliers",
        test=real_recall,
    ),
    Claim(
        place="Sec. IX-C",
        says="Does the gate help whatever the foundation?",
        holds_when="near 25 %, mean over sets: `default` is lower with its gate than without, for each foundation",
        protocol="cross_foundation",
        test=any_foundation,
    ),
)

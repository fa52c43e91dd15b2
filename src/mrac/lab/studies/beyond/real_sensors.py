"""Our method beside the paper's gate on real sensors, with nothing injected."""

import math
from dataclasses import dataclass, replace
from typing import Final

from mrac.lab.bench.report.gate_f1 import pooled
from mrac.lab.bench.report.labels import family_label, percent, set_label
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.bench.report.table import NOT_RUN, Entry, Row, Table
from mrac.lab.studies.beyond.grid import PAPERS_GATE
from mrac.lab.studies.beyond.pairs import OURS, difference, together
from mrac.lab.studies.beyond.section import Check, Section
from mrac.lab.studies.claim import Outcome

_HEAD: Final = "mrac"


def _real_conditions(results: Results) -> list[CellKey]:
    found = {replace(c, method="") for c in results.cells if c.source != "truth" and c.method == OURS}
    return sorted(found, key=lambda c: (c.set, c.source, c.family != "natural", c.fraction))


def papers_gate(results: Results) -> str | None:
    """Our head behind the paper's gate where it was run, else the paper's own behind it; None where neither was."""
    there = {c.method for c in results.cells if c.source != "truth"}
    return next((m for m in (PAPERS_GATE, _HEAD) if m in there), None) if OURS in there else None


@dataclass(frozen=True)
class Reading:
    """One source, family and fraction.

    Attributes:
        label: of its row.
        lower: whether our AbsRel is.
        higher: whether our F1, mean over images, is; None where no anchor is wrong, and there is none.
        pooled: the same of the F1 over all anchors at once.
        row: of the table.
    """

    label: str
    lower: bool
    higher: bool | None
    pooled: bool | None
    row: Row


def reading(results: Results, condition: CellKey, theirs: str) -> Reading:
    """Our method beside the other, on the images and seeds that both have."""
    cells = [replace(condition, method=m) for m in (OURS, theirs)]
    seeds = sorted(set(results.seeds(cells[0])) & set(results.seeds(cells[1])))
    label = f"{condition.source}, {family_label(condition.family)}"
    label += f" {percent(condition.fraction)}" if condition.family != "natural" else ""
    group = set_label(condition.set)
    errors = together(results, condition, (OURS, theirs), seeds=seeds)
    if not errors.size:
        return Reading(label, False, None, None, Row(label=label, entries=(Entry(state=NOT_RUN),) * 11, group=group))
    apart = difference(errors, condition.set)
    gates = [pooled(results, cell, seeds) for cell in cells]
    f1 = [results.mean("gate_f1", cell, seeds).value for cell in cells]
    some_wrong = not math.isnan(gates[0][1])
    higher = f1[0] is not None and (f1[1] is None or f1[0] > f1[1]) if some_wrong else None
    at_once = gates[0][2] > gates[1][2] if some_wrong else None
    entries = [Entry(value=float(v)) for v in errors.mean(axis=1)]
    entries.append(Entry(value=apart.value, interval=(apart.low, apart.high), decimals=4))
    entries += [Entry(value=v, state=NOT_RUN, decimals=2) for v in (*f1, *gates[0], *gates[1])]
    return Reading(label, apart.value < 0.0, higher, at_once, Row(label=label, entries=tuple(entries), group=group))


def real(results: Results) -> Section:
    """Real sensors."""
    title = "e. Real outliers, nothing injected"
    asks = {
        "lower": "lower AbsRel than the paper's gate in every row",
        "higher": "higher F1 than it in every row, mean over the images that have one",
        "pooled": "higher F1 than it in every row, all anchors at once",
    }
    if (theirs := papers_gate(results)) is None:
        lacking = f"Rows are missing: `{OURS}` and the paper's gate on real readings (protocol `real_outliers`)."
        return Section(title, [Check(words, None, lacking) for words in asks.values()])
    readings = [reading(results, condition, theirs) for condition in _real_conditions(results)]
    checks = []
    for what, words in asks.items():
        parts = {f"{one.row.group} {one.label}": getattr(one, what) for one in readings}
        parts = {label: won for label, won in parts.items() if won is not None}
        lost = [label for label, won in parts.items() if not won]
        here = f"than `{theirs}` in {len(parts) - len(lost)} of {len(parts)}"
        here += f"; not in {'; '.join(lost)}" if lost else ""
        checks.append(Check(words, Outcome(here, tuple(parts.values()))))
    table = Table(
        key="real", title=f"{OURS} (d) beside {theirs} (p) on real readings", corner="readings",
        columns=("d", "p", "d − p", "F1 d", "F1 p", "prec d", "rec d", "pF1 d", "prec p", "rec p", "pF1 p"),
        about="AbsRel, its difference with a 95 % interval, F1 as the mean over images; then precision, recall and F1 "
        "over all anchors of a row pooled. Means over seeds and the images that both have; wrong: more than 10 % off.",
        rows=tuple(one.row for one in readings),
    )  # fmt: skip
    stands_in = (
        f"`{PAPERS_GATE}` is not among the runs: `{theirs}`, the paper's gate before the paper's own head, stands for "
        "it, so AbsRel compares heads too."
    )
    return Section(title, checks, [table], notes=[] if theirs == PAPERS_GATE else [stands_in])

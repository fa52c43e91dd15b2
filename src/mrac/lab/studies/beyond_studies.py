"""Our method over the number of anchors, and on real sensors with nothing injected."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from mrac.lab.bench.report.bootstrap import LEVEL
from mrac.lab.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.lab.bench.report.figures.style import Figure as Drawing
from mrac.lab.bench.report.labels import METHODS, family_label, ordered, percent, set_label
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.bench.report.table import NOT_RUN, Entry, Row, Table, mark_best
from mrac.lab.studies.beyond_grid import PAPERS_GATE
from mrac.lab.studies.beyond_pairs import OURS, difference, on_same_images, together
from mrac.lab.studies.beyond_section import Check, Section, check
from mrac.lab.studies.claim import SETS, NotRunError, Outcome

# The curve goes from 2 to 2000; what comes before has a documented degradation.
BUDGETS: Final = (2, 5, 10, 25, 50, 100, 200, 500, 1000, 2000)
_FEW: Final = (0, 1)
_HEAD: Final = "mrac"


def _curve_cells(results: Results) -> list[CellKey]:
    """Clean anchors at random, in sets where ours was run with more than one K."""
    clean = [c for c in results.cells if c == CellKey(set=c.set, method=c.method, num_anchors=c.num_anchors)]
    own = Counter(c.set for c in clean if c.method == OURS)
    return [c for c in clean if own[c.set] > 1]


def _budgets(results: Results, set_name: str, least: int = 0) -> list[int]:
    own = [c.num_anchors for c in _curve_cells(results) if c.set == set_name and c.method == OURS]
    return sorted(number for number in own if number >= least)


def monotone(results: Results) -> Outcome:
    """More anchors never hurt: no step up whose interval, image by image, lies above zero.

    A flat curve has many steps, one of which will look like a rise at 95 %: the level is that of all of them together.
    """
    here, parts = [], []
    for set_name in _sets(results):
        budgets = _budgets(results, set_name, BUDGETS[0])
        rises, noise = [], []
        for few, many in pairwise(budgets):
            cells = [CellKey(set=set_name, method=OURS, num_anchors=K) for K in (many, few)]
            step = difference(on_same_images(results, cells), set_name, 1.0 - (1.0 - LEVEL) / (len(budgets) - 1))
            if step.low > 0.0:
                rises.append(f"{few} to {many} by {step.value:.4f} [{step.low:.4f}, {step.high:.4f}]")
            elif step.value > 0.0:
                noise.append(f"{few} to {many} by {step.value:.4f}")
        absent = [str(K) for K in BUDGETS if K not in budgets]
        words = f"rises from K = {', '.join(rises)}" if rises else "never rises beyond noise"
        words += f"; within noise from {', '.join(noise)}" if noise else ""
        here.append(f"{set_label(set_name)} {words}{_lacking(absent)}")
        parts.append(not rises and not absent)
    return Outcome(". ".join(here), tuple(parts))


def lowest(results: Results) -> Outcome:
    """Under every other method wherever both were run; our own with other stages stands in the table alone."""
    here, parts = [], []
    for set_name in _sets(results):
        budgets, words, count = _budgets(results, set_name, BUDGETS[0]), [], 0
        for other in _others(results, set_name):
            lost = []
            for K in budgets:
                values = together(results, CellKey(set=set_name, method="", num_anchors=K), (OURS, other))
                if values.size:
                    count += 1
                    apart = difference(values, set_name)
                    lost += [] if apart.value < 0.0 else [f"{K}{'' if apart.low > 0.0 else ' (within noise)'}"]
            words += [f"`{other}` at K = {', '.join(lost)}"] if lost else []
        absent = [str(K) for K in BUDGETS if K not in budgets]
        verdict = f"not under {'; '.join(words)}" if words else f"lowest in all {count} comparisons"
        here.append(f"{set_label(set_name)} {verdict}{_lacking(absent)}")
        parts.append(bool(count) and not words and not absent)
    return Outcome(". ".join(here), tuple(parts))


def few_anchors(results: Results) -> Outcome:
    """What ours says of itself with no anchor or one: never `ok`, and never a failure."""
    cells = [c for c in results.cells if c.method == OURS and c.num_anchors in _FEW and c.source == "truth"]
    if not cells:
        raise NotRunError(f"`{OURS}` with K = 0 or 1")
    here, parts = [], []
    for K in sorted({c.num_anchors for c in cells}):
        said: Counter[str] = Counter()
        for c in (c for c in cells if c.num_anchors == K):
            said.update(results.column("status", c, 0).tolist())
        here.append(f"K = {K}: " + ", ".join(f"`{status}` ×{n}" for status, n in said.most_common()))
        parts.append(not {"ok", "failed"} & set(said))
    absent = [str(K) for K in _FEW if K not in {c.num_anchors for c in cells}]
    return Outcome("; ".join(here) + _lacking(absent), (*parts, *(False for _ in absent)))


def _lacking(absent: Sequence[str]) -> str:
    return f" (K = {', '.join(absent)} not run)" if absent else ""


def _sets(results: Results) -> list[str]:
    found = ordered({c.set for c in _curve_cells(results)}, SETS)
    if not found:
        raise NotRunError(f"`{OURS}` over K (protocol `k_sweep`)")
    return found


def _others(results: Results, set_name: str, *, own: bool = False) -> list[str]:
    """Methods with a curve: other ones, or our own with another stage."""
    methods = {c.method for c in _curve_cells(results) if c.set == set_name and c.num_anchors != 50}
    return ordered({m for m in methods - {OURS} if m.startswith(f"{OURS};") == own}, METHODS)


def curve(results: Results) -> Section:
    """The K curve of every method."""
    asks = {
        "monotone in K, 2 to 2000, within noise, on every set": monotone,
        "below every other method at every K, on every set": lowest,
        "K = 0 and 1 give a named degradation and never fail": few_anchors,
    }
    checks = [check(question, test, results) for question, test in asks.items()]
    try:
        sets = _sets(results)
    except NotRunError:
        return Section("d. Over the number of anchors", checks)
    tables, panels = [], []
    for set_name in sets:
        budgets = _budgets(results, set_name)
        methods = [OURS, *_others(results, set_name, own=True), *_others(results, set_name)]
        errors = {m: [_error(results, set_name, m, K) for K in budgets] for m in methods}
        rows = [Row(label=m, entries=tuple(own)) for m, own in errors.items()]
        num_images = max(entry.num_images for entry in errors[OURS])
        about = f"Clean anchors at random, seed 0, on the images that {OURS} was run on ({num_images} here)."
        table = Table(
            key=f"curve-{set_name}", title=f"AbsRel over K, {set_label(set_name)}", corner="method", about=about,
            columns=tuple(f"K={K}" for K in budgets), rows=mark_best(rows, ["lower"] * len(budgets)),
        )  # fmt: skip
        tables.append(table)
        series = [
            Series(name=m, label=m, x=budgets, y=[np.nan if e.value is None else e.value for e in errors[m]])
            for m in [OURS, *_others(results, set_name)]
        ]
        panels.append(Panel(title=set_label(set_name), series=series))
    x, y = Axis(label="number of anchors K", log=True), Axis(label="AbsRel", log=True)
    drawing = Drawing("curve", "AbsRel over the number of anchors", "", lambda: draw_panels(panels, x, y))
    return Section("d. Over the number of anchors", checks, tables, [drawing])


def _error(results: Results, set_name: str, method: str, num_anchors: int) -> Entry:
    """Of the images that ours was run on too."""
    values = together(results, CellKey(set=set_name, method="", num_anchors=num_anchors), (OURS, method))
    value = float(values[1].mean()) if values.size else None
    return Entry(value=value, state=NOT_RUN, num_images=values.shape[1])


def _real_conditions(results: Results) -> list[CellKey]:
    found = {replace(c, method="") for c in results.cells if c.source != "truth" and c.method == OURS}
    return sorted(found, key=lambda c: (c.set, c.source, c.family != "natural", c.fraction))


def papers_gate(results: Results) -> str | None:
    """Our head behind the paper's gate where it was run, else the paper's own behind it; None where neither was."""
    there = {c.method for c in results.cells if c.source != "truth"}
    return next((m for m in (PAPERS_GATE, _HEAD) if m in there), None) if OURS in there else None


def pooled(results: Results, cell: CellKey, seeds: Sequence[int]) -> tuple[float, float, float]:
    """Precision, recall and F1 over all anchors of a cell at once; NaN where there is nothing to be right about."""
    caught = rejected = wrong = 0.0
    for seed in seeds:
        recall, num_wrong = (results.column(name, cell, seed) for name in ("gate_recall", "num_wrong"))
        wrong += float(np.nansum(num_wrong))
        caught += float(np.nansum(recall * num_wrong))
        rejected += float(np.nansum(results.column("num_rejected", cell, seed)))
    of = [(caught, rejected), (caught, wrong), (2.0 * caught, wrong + rejected)]
    return tuple(a / b if b else np.nan for a, b in of)  # type: ignore[return-value]


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

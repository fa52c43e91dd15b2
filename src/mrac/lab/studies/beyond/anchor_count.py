"""Our method over the number of anchors K."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from mrac.lab.bench.report.bootstrap import LEVEL
from mrac.lab.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.lab.bench.report.figures.style import Figure
from mrac.lab.bench.report.labels import METHODS, ordered, set_label
from mrac.lab.bench.report.results import CellKey, Results
from mrac.lab.bench.report.table import NOT_RUN, Entry, Row, Table, mark_best
from mrac.lab.studies.beyond.pairs import OURS, difference, on_same_images, together
from mrac.lab.studies.beyond.section import Section, check
from mrac.lab.studies.claim import SETS, NotRunError, Outcome

# The curve that is asked for; with fewer readings there is a named degradation, see `few_anchors`.
BUDGETS: Final = (2, 5, 10, 25, 50, 100, 200, 500, 1000, 2000)
_FEW: Final = (0, 1)


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
    drawing = Figure("curve", "AbsRel over the number of anchors", "", lambda: draw_panels(panels, x, y))
    return Section("d. Over the number of anchors", checks, tables, [drawing])


def _error(results: Results, set_name: str, method: str, num_anchors: int) -> Entry:
    """Of the images that ours was run on too."""
    values = together(results, CellKey(set=set_name, method="", num_anchors=num_anchors), (OURS, method))
    value = float(values[1].mean()) if values.size else None
    return Entry(value=value, state=NOT_RUN, num_images=values.shape[1])

"""AbsRel over the number of readings (Fig. 4), over where they are taken, and over noise."""

import math
from typing import Final

from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.lab.bench.report.figures.style import Figure
from mrac.lab.bench.report.labels import PLACEMENTS, method_label, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.table import NOT_RUN, Entry
from mrac.lab.bench.report.tables import budget, noise, placement

_Y: Final = Axis(label="AbsRel", log=True)


def figures(context: Context) -> list[Figure]:
    """One per study that was run."""
    return [*_budget(context), *_placement(context), *_noise(context)]


def line(name: str, label: str, x: list[float], entries: list[Entry]) -> Series:
    """A line with a band of ± 1 standard deviation over seeds, where there are several.

    A cell that is missing is a gap in the line; one that nobody asked for is not.
    """
    there = [(at, entry) for at, entry in zip(x, entries, strict=True) if entry.state != NOT_RUN]
    y = [math.nan if entry.value is None else entry.value for _, entry in there]
    spreads = [entry.spread or 0.0 for _, entry in there]
    band = any(spreads)
    return Series(
        name=name,
        label=label,
        x=[at for at, _ in there],
        y=y,
        low=[a - s for a, s in zip(y, spreads, strict=True)] if band else (),
        high=[a + s for a, s in zip(y, spreads, strict=True)] if band else (),
        printed=[(at, entry.paper.value) for at, entry in zip(x, entries, strict=True) if entry.paper is not None],
    )


def _budget(context: Context) -> list[Figure]:
    panels = []
    budgets: list[int] = []
    for set_name in context.names("set", family="none", source="truth"):
        budgets, methods = budget.curve(context, set_name)
        if not budgets:
            continue
        series = []
        seeds = context.common_seed(CellKey(set=set_name, method=m, num_anchors=K) for m in methods for K in budgets)
        for m in methods:
            cells = [CellKey(set=set_name, method=m, num_anchors=K) for K in budgets]
            entries = [context.entry(cell, seeds=seeds, files=("budget",)) for cell in cells]
            series.append(line(m, method_label(m), [float(K) for K in budgets], entries))
        panels.append(Panel(title=set_label(set_name), series=series))
    if not panels:
        return []
    axis = Axis(label="number of readings K", log=True)
    return [
        Figure(
            "budget",
            "AbsRel against the number of readings (Fig. 4)",
            "Clean readings at random, first to last budget of the run; one checkpoint per method for all of them.",
            lambda: draw_panels(panels, axis, _Y),
        )
    ]


def _placement(context: Context) -> list[Figure]:
    panels = []
    for set_name in context.names("set", family="none", source="truth"):
        methods, placements, budgets = placement.studied(context, set_name)
        for m in methods:
            series = []
            for where in placements:
                cells = [CellKey(set=set_name, method=m, num_anchors=K, placement=where) for K in budgets]
                seeds = context.common_seed(cells)
                entries = [context.entry(cell, seeds=seeds, files=("placement",)) for cell in cells]
                label = PLACEMENTS.get(where, where)
                series.append(line(where, label, [float(K) for K in budgets], entries))
            panels.append((m, Panel(title=f"{set_label(set_name)}, {method_label(m)}", series=series)))
    if not panels:
        return []
    methods = list(dict.fromkeys(m for m, _ in panels))
    in_order = [panel for m in methods for own, panel in panels if own == m]
    axis = Axis(
        label="number of readings K", log=True, ticks=sorted({x for p in in_order for s in p.series for x in s.x})
    )
    return [
        Figure(
            "placement",
            "AbsRel by where readings are taken (Table V)",
            "Clean readings. A row per method, a column per set.",
            lambda: draw_panels(in_order, axis, _Y, num_columns=len(in_order) // len(methods)),
        )
    ]


def _noise(context: Context) -> list[Figure]:
    panels = []
    for set_name in context.grid_names("set"):
        levels = noise.levels(context, set_name)
        if not levels:
            continue
        series = []
        for m in context.methods(set=set_name, fraction=1.0):
            cells = [CellKey(set=set_name, method=m)]
            cells += [CellKey(set=set_name, method=m, family=f, fraction=1.0) for f in levels.values()]
            seeds = context.common_seed(cells)
            entries = [context.entry(cell, seeds=seeds, files=()) for cell in cells]
            series.append(line(m, method_label(m), [0.0, *levels], entries))
        panels.append(Panel(title=set_label(set_name), series=series))
    if not panels:
        return []
    axis = Axis(label="standard deviation, m")
    return [
        Figure(
            "noise",
            "AbsRel against ordinary noise (Sec. VI-D)",
            "Zero-mean Gaussian noise on all of 50 readings. The paper says that AbsRel moves by at most 0.001.",
            lambda: draw_panels(panels, axis, Axis(label="AbsRel", from_zero=True)),
        )
    ]

"""AbsRel over the number of readings (Fig. 4), over noise, over placement, and over the share of really wrong ones."""

from typing import Final

from mrac.bench.report.context import Context
from mrac.bench.report.figures.look import Figure
from mrac.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.bench.report.figures.robustness import shown
from mrac.bench.report.labels import PLACEMENTS, is_swept, method_label, set_label
from mrac.bench.report.results import CellKey
from mrac.bench.report.table import Entry
from mrac.bench.report.tables import budget, noise, placement, real

_Y: Final = Axis(label="AbsRel", log=True)


def figures(context: Context) -> list[Figure]:
    """One per study that was run."""
    return [*_budget(context), *_placement(context), *_noise(context), *_real(context)]


def _series(name: str, label: str, x: list[float], entries: list[Entry]) -> Series:
    """A line with a band of ± 1 standard deviation over seeds, where there are several."""
    y = [float("nan") if e.value is None else e.value for e in entries]
    spreads = [e.spread or 0.0 for e in entries]
    band = any(spreads)
    return Series(
        name=name,
        label=label,
        x=x,
        y=y,
        low=[a - s for a, s in zip(y, spreads, strict=True)] if band else (),
        high=[a + s for a, s in zip(y, spreads, strict=True)] if band else (),
        printed=[(at, e.paper.value) for at, e in zip(x, entries, strict=True) if e.paper is not None],
    )


def _budget(context: Context) -> list[Figure]:
    panels = []
    budgets: list[int] = []
    for set_name in context.names("set", family="none", source="truth"):
        budgets, methods = budget.curve(context, set_name)
        if not budgets:
            continue
        series = []
        for m in methods:
            cells = [CellKey(set=set_name, method=m, num_anchors=K) for K in budgets]
            entries = [context.entry(cell, files=("budget",)) for cell in cells]
            series.append(_series(m, method_label(m), [float(K) for K in budgets], entries))
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
                entries = [context.entry(cell, files=("placement",)) for cell in cells]
                label = PLACEMENTS.get(where, where)
                series.append(_series(where, label, [float(K) for K in budgets], entries))
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
            entries = [context.entry(cell, files=()) for cell in cells]
            series.append(_series(m, method_label(m), [0.0, *levels], entries))
        panels.append(Panel(title=set_label(set_name), series=series))
    if not panels:
        return []
    axis = Axis(label="standard deviation of every reading, m")
    return [
        Figure(
            "noise",
            "AbsRel against ordinary noise (Sec. VI-D)",
            "Zero-mean Gaussian noise on all of 50 readings. The paper says that AbsRel moves by at most 0.001.",
            lambda: draw_panels(panels, axis, Axis(label="AbsRel", from_zero=True)),
        )
    ]


def _real(context: Context) -> list[Figure]:
    panels = []
    for set_name, source in real.studied(context):
        cells = [c for c in real.conditions(context, set_name, source) if c.family == "enriched"]
        methods = [m for m in context.names("method", set=set_name, source=source) if not is_swept(m)]
        series = [
            _series(
                m,
                method_label(m),
                [100.0 * c.fraction for c in cells],
                [context.entry(c.with_method(m)) for c in cells],
            )
            for m in shown(methods)
        ]
        if len(cells) > 1:
            panels.append(Panel(title=f"{set_label(set_name)}, {real.source_label(source)}", series=series))
    if not panels:
        return []
    axis = Axis(label="share of really wrong readings, %")
    return [
        Figure(
            "real",
            "Real outliers, nothing injected",
            "Readings of real sensors, the wrong ones drawn from those that are more than 10 % off. Bands are ± 1 "
            "standard deviation over seeds.",
            lambda: draw_panels(panels, axis, Axis(label="AbsRel", log=True, shared=False)),
        )
    ]

"""AbsRel over the share of wrong readings (Fig. 3): mean over the sets, and each set by itself."""

from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.lab.bench.report.bootstrap import mean_intervals, resampled_means
from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.lab.bench.report.figures.style import Figure
from mrac.lab.bench.report.labels import family_label, method_label, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.table import NOT_RUN
from mrac.lab.bench.report.tables.overview import mean_over_sets, swept

# More lines than these cannot be told apart; the tables have the others.
SHOWN: Final = ("vanilla", "b_prime", "mrac_b_prime", "sml_retrained", "vi_depth", "default")
_X: Final = Axis(label="share of wrong readings, %")
_Y: Final = Axis(label="AbsRel", log=True)


def shown(methods: list[str]) -> list[str]:
    """Those of the paper's figure and ours, or the first six where none of them was run."""
    return [m for m in methods if m in SHOWN] or methods[:6]


def figures(context: Context) -> list[Figure]:
    """Two, where the grid has more than one fraction."""
    families = [family for family in FAMILIES if len(swept(context, family)[2]) > 2]
    if not families:
        return []
    sets = sorted({s for f in families for s in swept(context, f)[0]}, key=context.grid_names("set").index)
    over = ", ".join(map(set_label, sets))
    mean = Figure(
        "robustness",
        "AbsRel against the share of wrong readings (Fig. 3)",
        f"Mean over {over}; bands are ± 1 standard deviation across the sets, as in the paper. K = 50.",
        lambda: draw_panels([_mean_panel(context, family) for family in families], _X, _Y, num_columns=4),
    )
    each = Figure(
        "robustness_by_set",
        "The same for each set",
        "Bands are 95 % intervals of the mean under resampling of the images. K = 50, first seed.",
        lambda: draw_panels([_panel(context, f, s) for s in sets for f in families], _X, _Y, num_columns=len(families)),
    )
    return [mean, each]


def _mean_panel(context: Context, family: str) -> Panel:
    sets, methods, fractions = swept(context, family)
    series = []
    for m in shown(methods):
        cells = [CellKey(set="", method=m, family=family, fraction=p) for p in fractions]
        found = [mean_over_sets(context, cell, sets) for cell in cells]
        there = [i for i, entry in enumerate(found) if entry.state != NOT_RUN]
        entries = [found[i] for i in there]
        y = np.array([np.nan if e.value is None else e.value for e in entries])
        spread = np.array([0.0 if e.spread is None else e.spread for e in entries])
        low = np.maximum(y - spread, y * 0.2)  # a logarithmic axis has no room for 0
        series.append(_series(m, [fractions[i] for i in there], y, low, y + spread))
    return Panel(title=family_label(family), series=series)


def _panel(context: Context, family: str, set_name: str) -> Panel:
    _, methods, fractions = swept(context, family)
    series = []
    for m in shown(methods):
        own = [p for p in fractions if context.has(CellKey(set=set_name, method=m, family=family, fraction=p))]
        cells = [CellKey(set=set_name, method=m, family=family, fraction=p) for p in own]
        seeds = sorted({seed for cell in cells for seed in context.results.seeds(cell)})[:1]
        values = context.results.matrix("abs_rel", cells, seeds)
        if values.size:
            y = resampled_means(values, np.ones((1, values.shape[1])))[0]
            series.append(_series(m, own, y, *mean_intervals(values, set_name, context.seed)))
    return Panel(title=f"{set_label(set_name)}, {family_label(family)}", series=series)


def _series(method: str, fractions: list[float], y: FloatArray, low: FloatArray, high: FloatArray) -> Series:
    x = [100.0 * p for p in fractions]
    return Series(name=method, label=method_label(method), x=x, y=list(y), low=list(low), high=list(high))

"""How often the truth lies within the stated deviation, beside how often it should."""

from dataclasses import replace
from typing import Final

from mrac.lab.bench.protocol import CLEAN
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.figures.panels import Axis, Panel, Series, draw_panels
from mrac.lab.bench.report.figures.style import Figure
from mrac.lab.bench.report.labels import SHORT, method_label, percent, set_label
from mrac.lab.bench.report.tables.coverage import LEVELS, conditions, covered

_SHOWN: Final = ("cfa_ols", "vanilla", "b_prime", "mrac", "mrac_b_prime", "sml_retrained", "default")


_Y: Final = Axis(label="pixels within, %", from_zero=True)


def figures(context: Context) -> list[Figure]:
    """One, both levels, where deviations were recorded."""
    cells = conditions(context)
    if len(cells) < 2 or not all(level in context.results.columns for level in LEVELS):
        return []
    panels = []
    for metric, level in LEVELS.items():
        for set_name in context.grid_names("set"):
            series = []
            methods = [m for m in context.methods(set=set_name) if m in _SHOWN]
            for place, m in enumerate(methods):
                beside = 0.6 * (place + 0.5) / len(methods) - 0.3  # so that none hides another
                values = [covered(context, replace(cell, set=set_name, method=m), metric).value for cell in cells]
                if any(value is not None for value in values):
                    y = [float("nan") if value is None else value for value in values]
                    x = [i + beside for i in range(len(cells))]
                    series.append(Series(name=m, label=method_label(m), x=x, y=y, joined=False))
            if series:
                title = f"{set_label(set_name)}, {percent(round(level, 2))}"
                panels.append(Panel(title=title, series=series, line_at=100.0 * level))
    if not panels:
        return []
    labels = ["clean" if c.family == CLEAN else SHORT.get(c.family, c.family) for c in cells]
    across = Axis(label="clean, or 25 % of this kind", ticks=list(range(len(cells))), labels=labels)
    return [
        Figure(
            "coverage",
            "Coverage of the stated deviation",
            "Share of pixels whose truth lies within the central interval of the level; dashed: where a calibrated "
            "deviation would be. K = 50.",
            lambda: draw_panels(panels, across, _Y, num_columns=len(panels) // len(LEVELS)),
        )
    ]

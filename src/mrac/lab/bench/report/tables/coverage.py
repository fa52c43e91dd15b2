"""Whether the stated deviation is true: how often the truth lies within it."""

from dataclasses import replace
from typing import Final

from mrac.lab.bench.protocol import CLEAN
from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import corruption_label, method_label, percent, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Entry, Row, Table

LEVELS: Final = {"coverage_68": 0.6827, "coverage_90": 0.9}
_FRACTION: Final = 0.25


def conditions(context: Context) -> list[CellKey]:
    """Clean, and a quarter wrong in every family that was run so; without set and method."""
    found = [CellKey(set="", method="")] if context.methods(family=CLEAN) else []
    families = [f for f in FAMILIES if context.methods(family=f, fraction=_FRACTION)]
    return [*found, *(CellKey(set="", method="", family=f, fraction=_FRACTION) for f in families)]


def covered(context: Context, cell: CellKey, metric: str) -> Entry:
    """Coverage of a cell in percent."""
    entry = context.entry(cell, metric, decimals=0, files=())
    hundred = None if entry.value is None else 100.0 * entry.value
    return replace(entry, value=hundred, spread=None)


def tables(context: Context) -> list[Table]:
    """One per level, sets as groups."""
    cells = conditions(context)
    if not cells or not any(level in context.results.columns for level in LEVELS):
        return []
    found = []
    for metric, level in LEVELS.items():
        rows = [
            Row(
                label=method_label(m),
                entries=tuple(covered(context, replace(cell, set=name, method=m), metric) for cell in cells),
                group=set_label(name),
            )
            for name in context.grid_names("set")
            for m in context.methods(set=name)
        ]
        rows = [row for row in rows if any(entry.value is not None or entry.num_missing for entry in row.entries)]
        if not rows:
            continue
        wanted = percent(round(level, 2))
        table = Table(
            key=metric,
            title=f"Coverage of the stated deviation: pixels within the {wanted} interval, %",
            about=f"Calibrated is {wanted}; fewer is overconfident. K = 50. The paper reports none.",
            columns=tuple(corruption_label(cell.family, cell.fraction) for cell in cells),
            rows=tuple(rows),
        )
        found.append(finished(context, table, "", sets=[], methods=[]))
    return found

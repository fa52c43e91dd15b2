"""Other foundations under the same methods (the paper's future work, Sec. IX-C)."""

from typing import Final

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import (
    METHODS,
    SHORT,
    foundation,
    method_label,
    ordered,
    percent,
    set_label,
    without_foundation,
)
from mrac.lab.bench.report.results import CLEAN, CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Row, Table

_OWN: Final = "the method's own"


def tables(context: Context) -> list[Table]:
    """A table per set, foundations as groups; where weights are not at hand, the rows say that they failed."""
    found = []
    for set_name in context.grid_names("set"):
        methods = [m for m in context.grid_names("method", set=set_name) if foundation(m)]
        if not methods:
            continue
        bases = {without_foundation(m) for m in methods}
        own = [m for m in context.grid_names("method", set=set_name) if m in bases]
        cells = _conditions(context, set_name, methods)
        groups: dict[str, list[str]] = {_OWN: ordered(own, METHODS)}
        for m in methods:
            groups.setdefault(foundation(m), []).append(m)
        seeds = context.common_seed(cell.with_method(m) for cell in cells for own in groups.values() for m in own)
        rows = tuple(
            Row(
                label=method_label(without_foundation(m)),
                entries=tuple(context.entry(cell.with_method(m), seeds=seeds, files=()) for cell in cells),
                group=group,
            )
            for group, members in groups.items()
            for m in members
        )
        table = Table(
            key=f"foundations_{set_name}",
            title=f"Other foundations, {set_label(set_name)}: AbsRel",
            about="K = 50. Lower is better.",
            corner="method",
            columns=tuple(_heading(cell) for cell in cells),
            rows=rows,
        )
        found.append(finished(context, table, ["lower"] * len(cells), sets=[set_name], methods=methods))
    return found


def _conditions(context: Context, set_name: str, methods: list[str]) -> list[CellKey]:
    cells = [CellKey(set=set_name, method="")]
    for family in FAMILIES:
        fractions = {p for m in methods for p in context.grid_names("fraction", set=set_name, method=m, family=family)}
        cells += [CellKey(set=set_name, method="", family=family, fraction=p) for p in sorted(fractions)]
    return cells


def _heading(cell: CellKey) -> str:
    return "clean" if cell.family == CLEAN else f"{SHORT.get(cell.family, cell.family)} {percent(cell.fraction)}"

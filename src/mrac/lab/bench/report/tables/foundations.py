"""Other foundations under the same methods (the paper's future work, Sec. IX-C)."""

from typing import Final

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import (
    METHODS,
    corruption_label,
    foundation,
    method_label,
    ordered,
    set_label,
    without_foundation,
)
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Table

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
            context.row(m, cells, seeds=seeds, files=(), label=method_label(without_foundation(m)), group=group)
            for group, members in groups.items()
            for m in members
        )
        table = Table(
            key=f"foundations_{set_name}",
            title=f"Other foundations, {set_label(set_name)}: AbsRel",
            about="K = 50. Lower is better.",
            columns=tuple(corruption_label(cell.family, cell.fraction) for cell in cells),
            rows=rows,
        )
        found.append(finished(context, table, "lower", sets=[set_name], methods=methods))
    return found


def _conditions(context: Context, set_name: str, methods: list[str]) -> list[CellKey]:
    cells = [CellKey(set=set_name, method="")]
    for family in FAMILIES:
        fractions = {p for m in methods for p in context.grid_names("fraction", set=set_name, method=m, family=family)}
        cells += [CellKey(set=set_name, method="", family=family, fraction=p) for p in sorted(fractions)]
    return cells

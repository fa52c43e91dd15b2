"""Table IV: AbsRel from clean readings."""

from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import method_label, set_label
from mrac.lab.bench.report.results import CLEAN, CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Row, Table


def tables(context: Context) -> list[Table]:
    """All methods that were run on clean readings, on all their sets."""
    where = {"family": CLEAN, "fraction": 0.0}
    sets, methods = context.grid_names("set", **where), context.methods(**where)
    if not sets:
        return []
    rows = tuple(
        Row(
            label=method_label(method),
            entries=tuple(context.entry(CellKey(set=name, method=method), files=("clean",)) for name in sets),
            paper_label=context.paper_label(method),
        )
        for method in methods
    )
    table = Table(
        key="clean",
        title="Table IV: AbsRel with clean readings",
        about="K = 50, nothing wrong with them. Lower is better.",
        corner="method",
        columns=tuple(set_label(name) for name in sets),
        rows=rows,
    )
    return [finished(context, table, ["lower"] * len(sets), sets=sets, methods=methods)]

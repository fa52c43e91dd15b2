"""Table IV: AbsRel from clean readings."""

from mrac.lab.bench.protocol import CLEAN
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Table


def tables(context: Context) -> list[Table]:
    """All methods that were run on clean readings, on all their sets."""
    where = {"family": CLEAN, "fraction": 0.0}
    sets, methods = context.grid_names("set", **where), context.methods(**where)
    if not sets:
        return []
    conditions = [CellKey(set=name, method="") for name in sets]
    table = Table(
        key="clean",
        title="Table IV: AbsRel with clean readings",
        about="K = 50, nothing wrong with them. Lower is better.",
        columns=tuple(set_label(name) for name in sets),
        rows=tuple(context.row(method, conditions, files=("clean",)) for method in methods),
    )
    return [finished(context, table, "lower", sets=sets, methods=methods)]

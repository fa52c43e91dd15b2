"""Tables I and II, AbsRel with a quarter of the readings wrong, and what the paper's text says of 40 %."""

from typing import Any, Final

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import corruption_label, family_label, paper_set, percent, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Table

_NUMBERS: Final = {("dropout", 0.25): "Table I", ("near", 0.25): "Table II"}
_FILES: Final = ("headline", "limits")  # of the paper's numbers: studies ran some of these cells again


def tables(context: Context) -> list[Table]:
    """The two headline tables, then KITTI at every fraction, where the paper finds its limits."""
    found = [table for key in _NUMBERS for table in _by_set(context, *key)]
    for name in context.grid_names("set"):
        if paper_set(name) == "kitti":
            found += _by_condition(context, name)
    return found


def _by_set(context: Context, family: str, fraction: float) -> list[Table]:
    where: dict[str, Any] = {"family": family, "fraction": fraction}
    sets, methods = context.grid_names("set", **where), context.methods(**where)
    if len(methods) < 2:  # a study of one method passes here too
        return []
    conditions = [CellKey(set=name, method="", **where) for name in sets]
    seeds = max((len(context.results.seeds(c.with_method(m))) for c in conditions for m in methods), default=0)
    over = f"Mean ± standard deviation over {seeds} seeds; without ± one seed" if seeds > 1 else "One seed"
    table = Table(
        key=f"absrel_{family}_{round(100 * fraction)}",
        title=f"{_NUMBERS[family, fraction]}: AbsRel with {percent(fraction)} {family_label(family)} readings",
        about=f"K = 50. {over}. Lower is better.",
        columns=tuple(set_label(name) for name in sets),
        rows=tuple(context.row(m, conditions, files=_FILES) for m in methods),
    )
    return [finished(context, table, "lower", sets=sets, methods=methods)]


def _by_condition(context: Context, set_name: str) -> list[Table]:
    """Where the gate breaks down: the text's numbers of Sec. V-A and V-F."""
    conditions = [
        (family, p)
        for p in context.grid_names("fraction", set=set_name)
        for family in FAMILIES
        if p > 0.25 and context.methods(set=set_name, family=family, fraction=p)
    ]
    if not conditions:
        return []
    found = {m for family, p in conditions for m in context.methods(set=set_name, family=family, fraction=p)}
    methods = [m for m in context.methods(set=set_name) if m in found]
    cells = [CellKey(set=set_name, method="", family=f, fraction=p) for f, p in conditions]
    table = Table(
        key=f"limits_{set_name}",
        title=f"Operating limits (Sec. V-A, V-F): AbsRel on {set_label(set_name)} beyond 25 %",
        about="K = 50. The paper's gate has a breakdown point of 29 %. Lower is better.",
        columns=tuple(corruption_label(f, p) for f, p in conditions),
        rows=tuple(context.row(m, cells, files=_FILES) for m in methods),
    )
    return [finished(context, table, "lower", sets=[set_name], methods=methods)]

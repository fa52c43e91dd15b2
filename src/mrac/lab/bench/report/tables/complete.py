"""The supplement's tables: all eight metrics of the grid, the closed-form references, and K = 150."""

from typing import Any, Final

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import METRICS, family_label, method_label, percent, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Better, Row, Table

_BETTER: Final[tuple[Better, ...]] = ("lower",) * 5 + ("higher",) * 3
_WAYS: Final = "Higher is better for δ, lower for the others."
_REFERENCES: Final = ("cfa_ols", "cfa_huber", "cfa_ransac")
_NOT_PRINTED: Final = "The paper's own table of this kind is not in the copy at hand, which has its caption only."


def tables(context: Context) -> list[Table]:
    """Sixteen on the paper's grid, then a table of references per set, then K = 150."""
    return [*_grid_tables(context), *_reference_tables(context), *_budget_tables(context)]


def _first_seed(context: Context, **where: object) -> list[int]:
    """Seed 0, as in the supplement, or the first one there is."""
    seeds = {seed for cell in context.results.cells if _agrees(cell, where) for seed in context.results.seeds(cell)}
    return sorted(seeds)[:1]


def _agrees(cell: CellKey, where: dict[str, object]) -> bool:
    return all(getattr(cell, name) == value for name, value in where.items())


def _metric_rows(context: Context, condition: CellKey, methods: list[str], seeds: list[int], group: str) -> list[Row]:
    """A row per method that was run under the condition, a column per metric."""
    cells = [cell for cell in map(condition.with_method, methods) if context.has(cell)]
    return [
        Row(
            label=method_label(cell.method),
            entries=tuple(context.entry(cell, metric, seeds=seeds, files=()) for metric in METRICS),
            group=group,
        )
        for cell in cells
    ]


def _metric_table(context: Context, methods: list[str], rows: list[Row], set_name: str, **head: Any) -> Table:
    """A table of `_metric_rows`; `head` has its key, title and about."""
    notes = (_NOT_PRINTED,) if context.paper else ()
    table = Table(columns=tuple(METRICS.values()), rows=tuple(rows), notes=notes, **head)
    return finished(context, table, _BETTER, sets=[set_name], methods=methods)


def _grid_tables(context: Context) -> list[Table]:
    found = []
    for set_name in context.grid_names("set"):
        methods = [m for m in context.methods(set=set_name) if m not in _REFERENCES]
        for family in FAMILIES:
            if not context.methods(set=set_name, family=family):
                continue
            fractions = [0.0, *context.grid_names("fraction", set=set_name, family=family)]
            seeds = _first_seed(context, set=set_name, family=family)
            rows: list[Row] = []
            for p in fractions:
                condition = CellKey(set=set_name, method="", family=family, fraction=p)
                rows += _metric_rows(context, condition, methods, seeds, f"p = {percent(p)}")
            head = {
                "key": f"metrics_{set_name}_{family}",
                "title": f"{set_label(set_name)}, {family_label(family)} readings: all metrics",
                "about": f"K = 50, seed {(seeds or [0])[0]}. {_WAYS}",
            }
            found.append(_metric_table(context, methods, rows, set_name, **head))
    return found


def _reference_tables(context: Context) -> list[Table]:
    found = []
    for set_name in context.grid_names("set"):
        methods = [m for m in context.methods(set=set_name) if m in _REFERENCES]
        families = [f for f in FAMILIES if f in context.grid_names("family", set=set_name)]
        if not methods or not families:
            continue
        rows = []
        for family in families:
            for p in [0.0, *context.grid_names("fraction", set=set_name, family=family)]:
                cells = [CellKey(set=set_name, method=m, family=family, fraction=p) for m in methods]
                seeds = _first_seed(context, set=set_name, family=family)
                entries = tuple(context.entry(cell, seeds=seeds, files=("clean",)) for cell in cells)
                rows.append(Row(label=f"p = {percent(p)}", entries=entries, group=family_label(family)))
        table = Table(
            key=f"references_{set_name}",
            title=f"{set_label(set_name)}: closed-form references, AbsRel over the grid",
            about="K = 50. Lower is better; the paper's number is that of its Table IV.",
            corner="readings",
            columns=tuple(method_label(m) for m in methods),
            rows=tuple(rows),
            notes=(_NOT_PRINTED,) if context.paper else (),
        )
        found.append(finished(context, table, "", sets=[set_name], methods=methods))
    return found


def _budget_tables(context: Context) -> list[Table]:
    """The learner at its training budget: complete metrics, a table per set; a sweep of clean readings is not one."""
    found = []
    where = {"num_anchors": 150, "placement": "random", "source": "truth"}
    for set_name in context.names("set", **where):
        methods = context.names("method", set=set_name, **where)
        families = [f for f in FAMILIES if f in context.names("family", set=set_name, **where)]
        shown = [(f, p) for f in families for p in context.names("fraction", set=set_name, family=f, **where)]
        seeds = _first_seed(context, set=set_name, **where)
        rows: list[Row] = []
        for family, p in [("none", 0.0), *shown] if shown else ():
            condition = CellKey(set=set_name, method="", family=family, fraction=p, num_anchors=150)
            group = f"{family_label(family)}, {percent(p)}" if p else "clean"
            rows += _metric_rows(context, condition, methods, seeds, group)
        if rows:
            title = f"{set_label(set_name)}: K = 150, all metrics"
            head = {"key": f"budget150_{set_name}", "title": title, "about": _WAYS}
            found.append(_metric_table(context, methods, rows, set_name, **head))
    return found

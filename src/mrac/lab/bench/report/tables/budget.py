"""The number of readings: AbsRel over K from clean ones (Fig. 4), and near at the learner's own budget (Sec. IX-B)."""

from typing import Any, Final

from mrac.lab.bench.protocol import CLEAN
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import is_swept, set_label, short
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Row, Table

_CLEAN: Final[dict[str, Any]] = {"family": CLEAN, "fraction": 0.0, "placement": "random", "source": "truth"}
_NEAR: Final[dict[str, Any]] = {"family": "near", "fraction": 0.25, "placement": "random", "source": "truth"}


def curve(context: Context, set_name: str) -> tuple[list[int], list[str]]:
    """The budgets of a sweep, and the methods that it swept; nothing where there is no sweep."""
    methods = [
        m
        for m in context.names("method", set=set_name, **_CLEAN)
        if not is_swept(m) and len(context.names("num_anchors", set=set_name, method=m, **_CLEAN)) > 2
    ]
    budgets = sorted({K for m in methods for K in context.names("num_anchors", set=set_name, method=m, **_CLEAN)})
    return budgets, methods


def tables(context: Context) -> list[Table]:
    """A table per set of the sweep, then K = 50 beside K = 150."""
    return [*(t for name in context.names("set", **_CLEAN) for t in _curve_table(context, name)), *_own_budget(context)]


def _curve_table(context: Context, set_name: str) -> list[Table]:
    budgets, methods = curve(context, set_name)
    if not budgets:
        return []
    cells = [[CellKey(set=set_name, method=m, num_anchors=K) for m in methods] for K in budgets]
    seeds = context.common_seed(cell for own in cells for cell in own)
    rows = tuple(
        Row(label=f"{K}", entries=tuple(context.entry(cell, seeds=seeds, files=("budget",)) for cell in own))
        for K, own in zip(budgets, cells, strict=True)
    )
    table = Table(
        key=f"budget_{set_name}",
        title=f"AbsRel over the number of readings (Fig. 4), {set_label(set_name)}",
        about="Clean readings at random. Lower is better.",
        columns=tuple(short(m) for m in methods),
        rows=rows,
        corner="K",
    )
    return [finished(context, table, "lower", sets=[set_name], methods=methods, across=True)]


def _own_budget(context: Context) -> list[Table]:
    sets = context.names("set", num_anchors=150, **_NEAR)
    rows = []
    for name in sets:
        for method in context.names("method", set=name, num_anchors=150, **_NEAR):
            cells = [CellKey(set=name, method=method, family="near", fraction=0.25, num_anchors=K) for K in (50, 150)]
            if not context.has(cells[0]):
                continue
            seeds = context.common_seed(cells)
            rows.append(context.row(method, cells, seeds=seeds, files=("budget",), group=set_label(name)))
    if not rows:
        return []
    table = Table(
        key="near_k150",
        title="The learner at its own budget (Sec. IX-B): AbsRel with 25 % near readings",
        about="K = 150 is what the learner was trained with. Lower is better.",
        columns=("K = 50", "K = 150"),
        rows=tuple(rows),
    )
    methods = context.names("method", num_anchors=150, **_NEAR)
    return [finished(context, table, "lower", sets=sets, methods=methods)]

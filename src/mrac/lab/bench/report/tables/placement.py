"""Table V: where the readings are taken."""

from typing import Any, Final

from mrac.lab.bench.protocol import CLEAN
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import PLACEMENTS, is_swept, method_label, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Row, Table

_CLEAN: Final[dict[str, Any]] = {"family": CLEAN, "fraction": 0.0, "source": "truth"}
_PHASE: Final = "The paper ran this study in what it calls its raw-depth phase; its numbers stand beside raw depth."


def studied(context: Context, set_name: str) -> tuple[list[str], list[str], list[int]]:
    """Methods, placements and budgets of the study on a set; nothing where there is no study."""
    methods = [
        m
        for m in context.names("method", set=set_name, **_CLEAN)
        if not is_swept(m) and len(PLACEMENTS.keys() & context.names("placement", set=set_name, method=m, **_CLEAN)) > 1
    ]
    # Those of the paper; sensors' have a table of their own.
    found = context.names("placement", set=set_name, **_CLEAN)
    placements = [placement for placement in PLACEMENTS if placement in found]
    budgets = {
        K
        for m in methods
        for p in placements
        if p != "random"
        for K in context.names("num_anchors", set=set_name, method=m, placement=p, **_CLEAN)
    }
    return methods, placements, sorted(budgets)


def tables(context: Context) -> list[Table]:
    """A table per set, methods as groups."""
    found = []
    for set_name in context.names("set", **_CLEAN):
        methods, placements, budgets = studied(context, set_name)
        if not methods:
            continue
        cells = {
            (m, where): [CellKey(set=set_name, method=m, num_anchors=K, placement=where) for K in budgets]
            for m in methods
            for where in placements
        }
        seeds = context.common_seed(cell for own in cells.values() for cell in own)
        rows = tuple(
            Row(
                label=PLACEMENTS.get(where, where),
                entries=tuple(context.entry(cell, seeds=seeds, files=("placement",)) for cell in own),
                group=method_label(m),
            )
            for (m, where), own in cells.items()
        )
        table = Table(
            key=f"placement_{set_name}",
            title=f"Table V: AbsRel by where readings are taken, {set_label(set_name)}",
            about="Clean readings. Lower is better.",
            corner="placement",
            columns=tuple(f"K = {K}" for K in budgets),
            rows=rows,
            notes=(_PHASE,) if any(row.has_paper for row in rows) else (),
        )
        found.append(finished(context, table, "lower", sets=[set_name], methods=methods))
    return found

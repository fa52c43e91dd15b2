"""Table VI: heads trained without one term of the loss."""

import re
from dataclasses import replace
from typing import Final

from mrac.lab.bench.protocol import CLEAN
from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import NOT_RUN, Entry, Row, Table

# As `mrac train ablation` names its rows.
ROWS: Final = {
    "raw_full": "full",
    "raw_no_silog": "− silog",
    "raw_no_cwa": "− cwa",
    "raw_no_ssc": "− ssc",
    "raw_no_fmp": "− fmp",
    "residual_full": "full",
    "residual_no_silog": "− silog",
    "residual_no_cwa": "− cwa",
    "residual_no_ssc": "− ssc",
    "residual_no_fmp": "− fmp",
    "residual_no_res": "− res (recommended)",
}
_HELD_OUT: Final = "scenes held out of the training pack (the paper: its test sets), K = 50"
_GROUPS: Final = {"raw": "raw-depth head", "residual": "residual on the closed form"}
_WEIGHTS: Final = re.compile(r"weights=(?:[^,;]*[/\\])?([A-Za-z0-9_]+)(?:\.onnx)?(?:[,;]|$)")


def tables(context: Context) -> list[Table]:
    """One where methods with such weights were run, one of the training's own table where it was given."""
    return [*_from_cells(context), *_from_training(context)]


def _from_cells(context: Context) -> list[Table]:
    methods = {}
    for method in context.grid_names("method", family=CLEAN):
        matched = _WEIGHTS.search(method)
        if matched and matched[1] in ROWS:
            methods[matched[1]] = method
    if not methods:
        return []
    sets = [
        s for s in context.grid_names("set") if any(context.has(CellKey(set=s, method=m)) for m in methods.values())
    ]
    scores = {
        (row, name): context.entry(CellKey(set=name, method=method), files=())
        for row, method in methods.items()
        for name in sets
    }
    return [_table(context, "losses", "clean readings of the benchmark, K = 50", sets, scores)]


def _from_training(context: Context) -> list[Table]:
    if context.ablation is None:
        return []
    scores = {
        (row, name): Entry(value=value) for row, own in context.ablation.scores.items() for name, value in own.items()
    }
    sets = list(dict.fromkeys(name for _, name in scores))
    return [_table(context, "losses_held_out", _HELD_OUT, sets, scores)] if sets else []


def _table(context: Context, key: str, on: str, sets: list[str], scores: dict[tuple[str, str], Entry]) -> Table:
    rows = []
    for row, label in ROWS.items():
        entries = []
        for name in sets:
            entry = scores.get((row, name), Entry(state=NOT_RUN))
            printed = context.printed(CellKey(set=name, method=row), files=("losses",))
            entries.append(replace(entry, paper=printed))
        rows.append(Row(label=label, entries=tuple(entries), group=_GROUPS[row.partition("_")[0]]))
    table = Table(
        key=key,
        title="Table VI: heads trained without a term of the loss",
        about=f"AbsRel on {on}. The terms cwa, ssc and fmp are our reading of names that the paper leaves undefined.",
        corner="loss",
        columns=tuple(set_label(name) for name in sets),
        rows=tuple(rows),
    )
    # What was held out of training is no part of the runs' sets, whose images a foot would count.
    shown = () if key == "losses_held_out" else sets
    return finished(context, table, "lower", sets=shown, methods=["vanilla"])

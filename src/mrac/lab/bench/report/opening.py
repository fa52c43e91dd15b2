"""What a report opens with: what must be known before any figure, the answer in a sentence, one table, one figure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import method_label, set_label, short
from mrac.lab.bench.report.origin import warnings
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import NOT_RUN, Entry, Row, Table
from mrac.lab.bench.report.tables.overview import mean_over_sets, swept
from mrac.lab.bench.report.verdict import Verdict

FIGURE: Final = "robustness"
"""The key of the figure that is shown first, and there alone."""
_COLUMNS: Final = (("near", 0.25), ("near", 0.4), ("dropout", 0.4), ("uniform", 0.4), ("mixed_pixel", 0.4))
_ORACLE: Final = "gate=oracle"


@dataclass(frozen=True)
class Opening:
    """The first page.

    Attributes:
        warnings: in what the rows do not belong together; empty where they do.
        sentences: who is best, counted.
        table: AbsRel of all methods of the grid, or None where there is no grid.
        verdicts: what was judged from these rows; empty where nobody did.
        changes: what changed against earlier results and why, an item each.
    """

    warnings: tuple[str, ...]
    sentences: tuple[str, ...]
    table: Table | None
    verdicts: tuple[Verdict, ...] = ()
    changes: tuple[str, ...] = ()


def opening(context: Context, verdicts: Sequence[Verdict] = (), changes: Sequence[str] = ()) -> Opening:
    """Of a report."""
    table = _table(context)
    sentences = () if table is None else (_best(context), _next(table))
    return Opening(
        tuple(warnings(context.runs)), tuple(s for s in sentences if s), table, tuple(verdicts), tuple(changes)
    )


def _grid(context: Context) -> tuple[list[str], list[str], list[CellKey]]:
    """Sets, methods and corrupted conditions that all families of the grid have in common; variants are left out."""
    families = [family for family in FAMILIES if len(swept(context, family)[2]) > 2]
    found = [swept(context, family) for family in families]
    sets = [s for s in (found[0][0] if found else []) if all(s in own[0] for own in found)]
    methods = [m for m in (found[0][1] if found else []) if all(m in own[1] for own in found)]
    cells = [
        CellKey(set="", method="", family=family, fraction=p)
        for family, own in zip(families, found, strict=True)
        for p in own[2][1:]
    ]
    return sets, [m for m in methods if ";" not in m or _ORACLE in m], cells


def _table(context: Context) -> Table | None:
    sets, methods, cells = _grid(context)
    if not sets or len(methods) < 2:
        return None
    shown = [c for c in cells if (c.family, c.fraction) in _COLUMNS] or cells[-1:]
    shown.sort(key=lambda c: _COLUMNS.index((c.family, c.fraction)) if (c.family, c.fraction) in _COLUMNS else 0)
    free: list[Row] = []
    told: list[Row] = []
    for method in methods:
        own = [mean_over_sets(context, c.with_method(method), sets) for c in (CellKey(set="", method=""), *shown)]
        row = Row(label=method_label(method), entries=(*own, _mean(context, method, cells, sets)))
        (told if _ORACLE in method else free).append(row)
    for rows in (free, told):
        rows.sort(key=lambda row: row.entries[-1].value if row.entries[-1].value is not None else float("inf"))
    table = Table(
        key="answer",
        title="The answer: AbsRel, clean and with wrong readings",
        about=f"K = 50, mean over {', '.join(map(set_label, sets))}, each weighing the same; the best first. A column "
        f"is a kind of wrong readings and their share in per cent, the last one the mean over all {len(cells)}. "
        "Lower is better.",
        columns=("clean", *(f"{short(c.family)} {100 * c.fraction:g}" for c in shown), "all"),
        rows=tuple(free),
    )
    table = finished(context, table, "lower", sets=[], methods=[])
    notes = ("The oracle gate is told which readings are wrong: no rival.",) if told else ()
    return replace(table, rows=(*table.rows, *told), notes=(*table.notes, *notes))


def _mean(context: Context, method: str, cells: Sequence[CellKey], sets: list[str]) -> Entry:
    entries = [mean_over_sets(context, c.with_method(method), sets) for c in cells]
    values = [entry.value for entry in entries if entry.value is not None]
    whole = len(values) == len(entries)
    return Entry(value=sum(values) / len(values) if whole else None, state="" if whole else NOT_RUN)


def _best(context: Context) -> str:
    """In how many conditions who has the lowest mean over images; a clean one counts once."""
    sets, methods, cells = _grid(context)
    rivals = [m for m in methods if _ORACLE not in m]
    lowest: Counter[str] = Counter()
    conditions = [replace(c, set=s) for s in sets for c in (CellKey(set="", method=""), *cells)]
    for c in conditions:
        means = {m: context.results.mean("abs_rel", c.with_method(m), context.results.seeds(c.with_method(m))[:1]).value
                 for m in rivals}  # fmt: skip
        there = {m: value for m, value in means.items() if value is not None}
        if there:
            lowest[min(there, key=lambda m: there[m])] += 1
    ranking = ", ".join(f"{method_label(m)} in {n}" for m, n in lowest.most_common())
    return f"Lowest error of {len(rivals)} methods in {len(conditions)} conditions: {ranking}."


def _next(table: Table) -> str:
    """The first two of the table."""
    first, second, *_ = table.rows
    a, b = first.entries[-1], second.entries[-1]
    if a.value is None or b.value is None:
        return ""
    return (
        f"Mean over all corrupted conditions: {first.label} {a.text}, then {second.label} {b.text} "
        f"({b.value / a.value:.2f} times as much)."
    )

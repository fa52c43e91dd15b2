"""The whole grid at a glance: AbsRel by family and fraction, mean over the sets, as the paper's Fig. 3 shows it."""

from collections.abc import Iterable
from dataclasses import replace

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import family_label, method_label, percent, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import MISSING, NOT_RUN, Entry, Row, Table


def mean_over_sets(context: Context, where: CellKey, sets: list[str], metric: str = "abs_rel") -> Entry:
    """The mean of the sets' means and, as spread, their standard deviation; nothing unless all sets have the cell."""
    entries = [context.entry(replace(where, set=name), metric, files=()) for name in sets]
    values = [entry.value for entry in entries if entry.value is not None]
    missing = sum(entry.num_missing for entry in entries)
    whole = bool(entries) and len(values) == len(entries)
    mean = sum(values) / len(values) if whole else None
    spread = (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5 if mean is not None else None
    return Entry(
        value=mean,
        spread=spread,
        show_spread=False,
        state="" if whole else MISSING if missing else NOT_RUN,
        num_images=sum(entry.num_images for entry in entries),
        num_failed=sum(entry.num_failed for entry in entries),
        num_missing=missing,
    )


def swept(context: Context, family: str) -> tuple[list[str], list[str], list[float]]:
    """Sets, methods and fractions, 0 among them, of a family in the grid; methods of a study of some are left out."""
    where = {"family": family}
    wrong = [p for p in context.grid_names("fraction", **where) if p > 0.0]
    methods = [m for m in context.methods(**where) if context.grid_names("fraction", method=m, **where) == wrong]
    return context.grid_names("set", **where), methods, [0.0, *wrong]


def rows_by_family(
    context: Context, families: Iterable[str], fractions: Iterable[float], metric: str = "abs_rel"
) -> list[Row]:
    """A row per family and method: the mean over the family's sets at each fraction."""
    rows = []
    for family in families:
        sets, methods, _ = swept(context, family)
        for m in methods:
            cells = [CellKey(set="", method=m, family=family, fraction=p) for p in fractions]
            entries = tuple(mean_over_sets(context, cell, sets, metric) for cell in cells)
            rows.append(Row(label=method_label(m), entries=entries, group=family_label(family)))
    return rows


def tables(context: Context) -> list[Table]:
    """One, families as groups, where any family was run at more than one fraction."""
    families = [family for family in FAMILIES if len(swept(context, family)[2]) > 2]
    if not families:
        return []
    fractions = sorted({p for family in families for p in swept(context, family)[2]})
    sets, methods, _ = swept(context, families[-1])
    table = Table(
        key="overview",
        title="AbsRel by family and share of wrong readings (data of Fig. 3)",
        about=f"K = 50, mean over {', '.join(map(set_label, sets))}, each weighing the same. Lower is better.",
        columns=tuple(percent(p) for p in fractions),
        rows=tuple(rows_by_family(context, families, fractions)),
    )
    return [finished(context, table, "lower", sets=sets, methods=methods)]

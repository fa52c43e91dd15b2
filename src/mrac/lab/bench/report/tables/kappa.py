"""The supplement's tables SI and SII: AbsRel, precision and recall of the paper's gate over its multiplier κ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import family_label, kappa, method_label, percent, set_label, without_kappa
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import NOT_RUN, Better, Entry, Row, Table


@dataclass(frozen=True)
class _Shown:
    metric: str
    title: str
    about: str
    decimals: int
    better: Better = ""


_TABLES: Final = (
    _Shown("abs_rel", "Table SI: AbsRel", "Lower is better.", 3, "lower"),
    _Shown("gate_precision", "Table SII: precision of the gate", "Share of the rejected readings that were wrong.", 2),
    _Shown("gate_recall", "Table SII: recall of the gate", "Share of the wrong readings that were rejected.", 2),
)


def sweeps(context: Context) -> dict[str, dict[float, str]]:
    """By method, its variants by κ: those of which the runs have more than one."""
    found: dict[str, dict[float, str]] = {}
    for method in context.grid_names("method"):
        value = kappa(method)
        if value is not None:
            found.setdefault(without_kappa(method), {})[value] = method
    return {base: dict(sorted(own.items())) for base, own in found.items() if len(own) > 1}


def conditions(context: Context, variants: dict[float, str]) -> list[CellKey]:
    """The corrupted conditions that a swept variant was run on, set by set."""
    methods = [method for method in variants.values() if without_kappa(method) != method]
    cells = {
        CellKey(set=s, method="", family=f, fraction=p)
        for m in methods
        for s in context.grid_names("set", method=m)
        for f in FAMILIES
        for p in context.grid_names("fraction", method=m, set=s, family=f)
    }
    sets = context.grid_names("set")
    return sorted(cells, key=lambda c: (sets.index(c.set), c.fraction, FAMILIES.index(c.family)))


def tables(context: Context) -> list[Table]:
    """Three per method that was swept."""
    return [
        _table(context, base, variants, shown)
        for base, variants in sweeps(context).items()
        if conditions(context, variants)
        for shown in _TABLES
    ]


def _table(context: Context, base: str, variants: dict[float, str], shown: _Shown) -> Table:
    cells = conditions(context, variants)
    seeds = context.common_seed(cell.with_method(m) for cell in cells for m in variants.values())
    rows = [
        Row(
            label=f"{set_label(cell.set)}, {family_label(cell.family)}",
            entries=tuple(
                context.entry(cell.with_method(m), shown.metric, seeds=seeds, decimals=shown.decimals, files=("kappa",))
                for m in variants.values()
            ),
        )
        for cell in cells
    ]
    rows.append(_mean_row(context, rows, variants, shown))
    fractions = " and ".join(percent(p) for p in sorted({cell.fraction for cell in cells}))
    table = Table(
        key=f"kappa_{shown.metric}" if base == "mrac_b_prime" else f"kappa_{shown.metric}_{base}",
        title=f"{shown.title} over κ, {method_label(base)}",
        about=f"K = 50, {fractions} of the readings wrong. {shown.about}",
        corner="cell",
        columns=tuple(f"κ = {value:g}" for value in variants),
        rows=tuple(rows),
    )
    sets = list(dict.fromkeys(cell.set for cell in cells))
    return finished(context, table, shown.better, sets=sets, methods=[base], across=True)


def _mean_row(context: Context, rows: Sequence[Row], variants: dict[float, str], shown: _Shown) -> Row:
    entries = []
    for c, method in enumerate(variants.values()):
        found = [row.entries[c].value for row in rows]
        whole = [value for value in found if value is not None]
        mean = sum(whole) / len(whole) if len(whole) == len(found) else None
        printed = context.printed(CellKey(set="", method=method, family="", fraction=0.25), shown.metric, ("kappa",))
        state = "" if mean is not None else NOT_RUN
        entries.append(Entry(value=mean, state=state, decimals=shown.decimals, paper=printed))
    return Row(label="mean", entries=tuple(entries))

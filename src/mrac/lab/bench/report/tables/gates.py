"""What the gates of all methods catch on the grid, and what they reject that was right."""

from typing import Final

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import family_label, method_label, percent
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Row, Table
from mrac.lab.bench.report.tables.overview import mean_over_sets, swept

_METRICS: Final = {"gate_recall": "recall", "gate_precision": "precision"}


def tables(context: Context) -> list[Table]:
    """One for recall and one for precision, families as groups, mean over the sets."""
    families = [family for family in FAMILIES if swept(context, family)[1]]
    fractions = sorted({p for family in families for p in swept(context, family)[2] if p > 0.0})
    found = []
    for metric, word in _METRICS.items():
        rows = []
        for family in families:
            sets, methods, _ = swept(context, family)
            for m in methods:
                cells = [CellKey(set="", method=m, family=family, fraction=p) for p in fractions]
                entries = tuple(mean_over_sets(context, cell, sets, metric) for cell in cells)
                if any(entry.value for entry in entries):  # a gate that lets all through catches none
                    rows.append(Row(label=method_label(m), entries=entries, group=family_label(family)))
        if not rows:
            continue
        share = "wrong readings that were rejected" if word == "recall" else "rejected readings that were wrong"
        table = Table(
            key=metric,
            title=f"The gates' {word} on the grid, mean over the sets",
            about=f"Share of the {share}; methods that reject nothing are left out. Higher is better.",
            corner="method",
            columns=tuple(percent(p) for p in fractions),
            rows=tuple(rows),
        )
        found.append(finished(context, table, ["higher"] * len(fractions), sets=[], methods=[]))
    return found

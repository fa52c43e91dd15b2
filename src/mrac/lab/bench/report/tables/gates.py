"""What the gates of all methods catch on the grid, and what they reject that was right."""

from typing import Final

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.labels import percent
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Table
from mrac.lab.bench.report.tables.overview import rows_by_family, swept

_METRICS: Final = {"gate_recall": "recall", "gate_precision": "precision"}


def tables(context: Context) -> list[Table]:
    """One for recall and one for precision, families as groups, mean over the sets."""
    families = [family for family in FAMILIES if swept(context, family)[1]]
    fractions = sorted({p for family in families for p in swept(context, family)[2] if p > 0.0})
    found = []
    for metric, word in _METRICS.items():
        rows = rows_by_family(context, families, fractions, metric)
        rows = [row for row in rows if any(entry.value for entry in row.entries)]  # a gate that keeps all catches none
        if not rows:
            continue
        share = "wrong readings that were rejected" if word == "recall" else "rejected readings that were wrong"
        table = Table(
            key=metric,
            title=f"The gates' {word} on the grid, mean over the sets",
            about=f"Share of the {share}; methods that reject nothing are left out. Higher is better.",
            columns=tuple(percent(p) for p in fractions),
            rows=tuple(rows),
        )
        found.append(finished(context, table, "higher", sets=[], methods=[]))
    return found

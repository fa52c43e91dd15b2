"""What the gates of all methods catch on the grid, and what they reject that was right."""

from typing import Final

from mrac.lab.bench.report.context import FAMILIES, Context
from mrac.lab.bench.report.gate_f1 import IMAGE, POOLED
from mrac.lab.bench.report.labels import percent
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import Table
from mrac.lab.bench.report.tables.overview import rows_by_family, swept

# Title, and what it is.
_METRICS: Final = {
    "gate_recall": ("recall", "Share of the wrong readings that were rejected"),
    "gate_precision": ("precision", "Share of the rejected readings that were wrong"),
    IMAGE: (f"F1, mean over images ({IMAGE})", "F1 of each image, then the mean over images of a set"),
    POOLED: (f"F1, all readings at once ({POOLED})", "F1 over all readings of all images of a set"),
}


def tables(context: Context) -> list[Table]:
    """For recall, precision and both F1, families as groups, mean over the sets."""
    families = [family for family in FAMILIES if swept(context, family)[1]]
    fractions = sorted({p for family in families for p in swept(context, family)[2] if p > 0.0})
    found = []
    for metric, (word, what) in _METRICS.items():
        rows = rows_by_family(context, families, fractions, metric)
        rows = [row for row in rows if any(entry.value for entry in row.entries)]  # a gate that keeps all catches none
        if not rows:
            continue
        table = Table(
            key=metric,
            title=f"The gates' {word} on the grid, mean over the sets",
            about=f"{what}; methods that reject nothing are left out. Higher is better.",
            columns=tuple(percent(p) for p in fractions),
            rows=tuple(rows),
        )
        found.append(finished(context, table, "higher", sets=[], methods=[]))
    return found

"""Tables as CSV, a line per entry and nothing rounded: for whoever goes on computing."""

import csv
import io
from typing import Final

from mrac.lab.bench.report.table import Table

COLUMNS: Final = (
    "table", "group", "row", "column", "value", "spread", "low", "high", "state", "best", "images", "failed", "paper",
    "paper_where",
)  # fmt: skip


def write_table(table: Table) -> str:
    """A line per entry, with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in table.rows:
        for column, entry in zip(table.columns, row.entries, strict=True):
            low, high = entry.interval or (None, None)
            values = (entry.value, entry.spread, low, high)
            writer.writerow(
                [table.key, row.group, row.label, column]
                + ["" if value is None else f"{value:.6g}" for value in values]
                + [entry.state if entry.value is None else "", int(entry.best), entry.num_images, entry.num_failed]
                + ([entry.paper.text, entry.paper.where] if entry.paper else ["", ""])
            )
    return text.getvalue()

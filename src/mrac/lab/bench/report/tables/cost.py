"""Table VII: what a method costs per image, from the times that the run recorded."""

from typing import Final

import numpy as np

from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.labels import method_label, paper_set, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished
from mrac.lab.bench.report.table import NOT_RUN, Entry, Row, Table

_COMPONENTS: Final = {
    ("foundation", "time_ms"): "foundation",
    ("head", "time_ms"): "residual head",
    ("gate", "time_ms"): "gate",
    ("end_to_end", "time_ms"): "end to end",
    ("end_to_end", "fps"): "images per second",
}


_CPU: Final = "cpu"


def hardware(context: Context, cell: CellKey, seed: int) -> str:
    """What the rows of a cell were computed on, `cpu, 16 cores`; a cell and seed are of one run."""
    column = context.results.columns.get("hardware")
    return _CPU if column is None else str(context.results.column("hardware", cell, seed)[0])


def timed(context: Context, set_name: str, method: str, on: str) -> list[tuple[CellKey, int]]:
    """The cells of a method on a set's grid, with the seeds that were run on one kind of hardware."""
    return [
        (cell, seed)
        for cell in sorted(context.results.cells)
        if (cell.set, cell.method, cell.num_anchors, cell.source) == (set_name, method, 50, "truth")
        for seed in context.results.seeds(cell)
        if hardware(context, cell, seed) == on
    ]


def processors(context: Context) -> list[str]:
    """The hardware of all rows whose times are of one core; those that share a GPU say little of one image."""
    column = context.results.columns.get("hardware")
    found = [_CPU] if column is None else np.unique(column).tolist()
    return [name for name in found if name.startswith(_CPU)]


def _median_ms(context: Context, set_name: str, method: str, on: str) -> Entry:
    cells = timed(context, set_name, method, on)
    if not cells:
        return Entry(state=NOT_RUN)
    times = np.concatenate([context.results.column("time_ms", cell, seed) for cell, seed in cells])
    if not np.isfinite(times).any():
        return Entry(state=NOT_RUN, num_images=times.size)
    return Entry(value=float(np.nanmedian(times)), decimals=1, num_images=times.size)


def tables(context: Context) -> list[Table]:
    """Milliseconds per image and method; the paper's components below."""
    if "time_ms" not in context.results.columns:
        return []
    sets, methods = context.grid_names("set"), context.methods()
    rows = [
        Row(
            label=method_label(m),
            entries=tuple(_median_ms(context, name, m, on) for name in sets),
            group=f"here, one core ({on})",
        )
        for on in processors(context)
        for m in methods
    ]
    rows = [row for row in rows if any(entry.value is not None for entry in row.entries)]
    if not rows:
        return []
    if context.paper:
        printed = context.paper.latency()
        for (part, metric), label in _COMPONENTS.items():
            numbers = [printed.get((paper_set(name), part, metric)) for name in sets]
            if any(numbers):
                entries = tuple(Entry(state=one.text if one else NOT_RUN) for one in numbers)
                rows.append(Row(label=label, entries=entries, group="paper, one A100"))
    table = Table(
        key="cost",
        title="Table VII: time per image, ms",
        about=(
            "Median over all images and conditions with K = 50. Here: gate, fit and head of one image by one method, "
            "in a worker with one thread, other workers beside it; relative depth is predicted once for all methods "
            "and is not in it. Runs on a GPU, which their workers share, are left out."
        ),
        columns=tuple(set_label(name) for name in sets),
        rows=tuple(rows),
    )
    return [finished(context, table, "", sets=sets, methods=methods)]

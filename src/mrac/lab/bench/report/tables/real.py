"""Readings of real sensors with their real errors: nothing is injected, and the paper has nothing like it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from mrac.lab.bench.report.context import Context
from mrac.lab.bench.report.gate_f1 import IMAGE, POOLED
from mrac.lab.bench.report.labels import is_swept, method_label, percent, set_label
from mrac.lab.bench.report.results import CellKey
from mrac.lab.bench.report.setting import finished, num_images
from mrac.lab.bench.report.table import FAILED, NOT_RUN, Entry, Row, Table, mark_best, shortfall

_SOURCES: Final = {
    "lidar": "raw LiDAR",
    "stereo": "stereo matching",
    "sensor": "depth camera",
    "aux": "stereo matching",
}


_GATE: Final = {
    "gate_recall": "share of the wrong that were rejected",
    "gate_precision": "share of the rejected that were wrong",
    IMAGE: f"F1, mean over images ({IMAGE})",
    POOLED: f"F1, all readings at once ({POOLED})",
}


def studied(context: Context) -> list[tuple[str, str]]:
    """Set and source of every study of real readings."""
    return [
        (name, source)
        for name in context.names("set")
        for source in context.names("source", set=name)
        if source != "truth"
    ]


def conditions(context: Context, set_name: str, source: str) -> list[CellKey]:
    """At the sensor's own rate first, then enriched, without a method."""
    where = {"set": set_name, "source": source}
    cells = {
        CellKey(method="", family=f, fraction=p, num_anchors=K, **where)
        for f in context.names("family", **where)
        for p in context.names("fraction", family=f, **where)
        for K in context.names("num_anchors", family=f, fraction=p, **where)
    }
    return sorted(cells, key=lambda c: (c.num_anchors, c.family != "natural", c.fraction))


def source_label(source: str) -> str:
    """`raw LiDAR` for `lidar`."""
    return _SOURCES.get(source, source)


def condition_label(cell: CellKey) -> str:
    """`as it is`, or the share that really is wrong."""
    return "as it is" if cell.family == "natural" else f"{percent(cell.fraction)}"


def tables(context: Context) -> list[Table]:
    """Per set and source: AbsRel, and what the gates caught."""
    pairs = studied(context)
    found = [table(context, name, source) for name, source in pairs for table in (_errors, _gates)]
    return [table for table in found if table.rows]


def methods_of(context: Context, set_name: str, source: str) -> list[str]:
    """Those that were run on a sensor's readings, without points of a study."""
    return [m for m in context.names("method", set=set_name, source=source) if not is_swept(m)]


def _errors(context: Context, set_name: str, source: str) -> Table:
    cells, methods = conditions(context, set_name, source), methods_of(context, set_name, source)
    rows = [context.row(m, cells, files=()) for m in methods]
    spreads = [entry.spread for row in rows for entry in row.entries if entry.spread is not None]
    notes = [f"Mean over seeds, whose standard deviation is at most {max(spreads):.3f}."] if spreads else []
    rows = [replace(row, entries=tuple(replace(entry, show_spread=False) for entry in row.entries)) for row in rows]
    wrong = Row(label="really wrong, %", entries=tuple(_wrong_share(context, cell, methods) for cell in cells))
    return Table(
        key=f"real_{set_name}_{source}",
        title=f"Real readings, nothing injected: {source_label(source)} of {set_label(set_name)}, AbsRel",
        about=(
            f"{num_images(context, set_name)} images. Readings as the sensor gave them, then with a share drawn from "
            "those that are more than 10 % wrong. Lower is better."
        ),
        columns=tuple(condition_label(cell) for cell in cells),
        rows=(wrong, *mark_best(rows, ["lower"] * len(cells))),
        notes=(*notes, *shortfall(rows)),
    )


def _wrong_share(context: Context, cell: CellKey, methods: Iterable[str]) -> Entry:
    """How many of the readings that the methods were given are wrong, in percent."""
    for method in methods:
        given = context.results.mean("num_anchors_given", cell.with_method(method)).value
        wrong = context.results.mean("num_wrong", cell.with_method(method)).value
        if given and wrong is not None:
            return Entry(value=100.0 * wrong / given, decimals=1)
    return Entry(state=NOT_RUN)


def _gates(context: Context, set_name: str, source: str) -> Table:
    cells = conditions(context, set_name, source)
    rows = []
    for metric, group in _GATE.items():
        for method in methods_of(context, set_name, source):
            entries = tuple(context.entry(cell.with_method(method), metric, decimals=2) for cell in cells)
            entries = tuple(replace(entry, show_spread=False, state=_undefined(entry)) for entry in entries)
            if any(entry.value for entry in entries):
                rows.append(Row(label=method_label(method), entries=entries, group=group))
    table = Table(
        key=f"real_gate_{set_name}_{source}",
        title=f"What the gates caught: {source_label(source)} of {set_label(set_name)}",
        about="Methods that reject nothing are left out. Mean over images with a wrong, or a rejected, reading.",
        columns=tuple(condition_label(cell) for cell in cells),
        rows=tuple(rows),
    )
    return finished(context, table, "higher", sets=[set_name], methods=[])


def _undefined(entry: Entry) -> str:
    """A recall without anything wrong is not a failure."""
    return NOT_RUN if entry.state == FAILED and entry.num_failed < entry.num_images else entry.state

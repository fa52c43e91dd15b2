"""A table before it is Markdown, CSV, LaTeX or HTML: entries that know the paper's number and what is missing."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from mrac.lab.bench.report.paper import Printed

MISSING: Final = "missing"
"""Planned by the run's protocol, and not there."""
NOT_RUN: Final = "–"
"""Not asked for by the run's protocol."""
FAILED: Final = "failed"
"""There, but without one image that has a number."""

HERE_AND_THERE: Final = "Here, and in the paper: "

Better = Literal["lower", "higher", ""]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One place of a table.

    Attributes:
        value: ours; None where there is none, which `state` explains.
        spread: standard deviation over seeds.
        interval: ends of the confidence interval.
        paper: what the paper prints for it.
        state: in place of a value: `missing`, `–` (not run), `failed`, or any short text.
        decimals: that are shown.
        best: of its column.
        num_images: rows behind it, over all seeds.
        num_failed: of them.
        num_missing: cells that were planned for it, one per seed, and are not finished.
        show_spread: as text; CSV has it anyway.
    """

    value: float | None = None
    spread: float | None = None
    interval: tuple[float, float] | None = None
    paper: Printed | None = None
    state: str = ""
    decimals: int = 3
    best: bool = False
    num_images: int = 0
    num_failed: int = 0
    num_missing: int = 0
    show_spread: bool = True

    @property
    def text(self) -> str:
        """As shown: `0.105`, `0.105±0.001`, `54 [50, 57]` or the state."""
        if self.value is None:
            return self.state
        shown = number(self.value, self.decimals)
        if self.spread is not None and self.show_spread:
            shown += f"±{number(self.spread, self.decimals)}"
        if self.interval is not None:
            shown += f" [{', '.join(number(end, self.decimals) for end in self.interval)}]"
        return shown


def number(value: float, decimals: int) -> str:
    """With a typographic minus: a hyphen before a figure reads as a range."""
    if math.isnan(value):
        return NOT_RUN
    return f"{value:.{decimals}f}".replace("-", "−")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line.

    Attributes:
        label: what it is about.
        entries: one per column.
        group: heading under which it stands with its neighbours of the same one.
        paper_label: heads the paper's numbers below it, where that is more than "paper".
    """

    label: str
    entries: tuple[Entry, ...]
    group: str = ""
    paper_label: str = "paper"

    @property
    def has_paper(self) -> bool:
        """Whether the paper has a number for any entry."""
        return any(entry.paper is not None for entry in self.entries)


@dataclass(frozen=True, kw_only=True)
class Table:
    """All that a writer needs.

    Attributes:
        key: its file name.
        title: says which table of the paper it is, if it is one.
        about: what is shown, in a sentence or two.
        columns: their headings.
        rows: top to bottom.
        corner: heads the first column.
        notes: below it: what is missing, what failed.
        differences: from the paper's setting: each as it is here and, in brackets, there.
        best_of: what its best entries are the best of.
    """

    key: str
    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    corner: str = "method"
    notes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    best_of: Literal["column", "row"] = "column"

    def __post_init__(self) -> None:
        uneven = [row.label for row in self.rows if len(row.entries) != len(self.columns)]
        if uneven:
            raise ValueError(f"table {self.key}: row {uneven[0]!r} has not {len(self.columns)} entries")

    @property
    def feet(self) -> tuple[str, ...]:
        """What stands below it, a paragraph each."""
        beside = (f"{HERE_AND_THERE}{'; '.join(self.differences)}.",) if self.differences else ()
        return (*self.notes, *beside)

    @property
    def legend(self) -> str:
        """What a mark on an entry means; nothing where there is none."""
        if not any(entry.best for row in self.rows for entry in row.entries):
            return ""
        grouped = self.best_of == "column" and any(row.group for row in self.rows)
        return f"best of its {self.best_of}{' in its group' if grouped else ''}."


def mark_best(rows: Sequence[Row], better: Sequence[Better], *, across: bool = False) -> tuple[Row, ...]:
    """Marks the best entry of each column within each group, or of each row.

    What looks equal is marked alike, or not at all where most look so.

    Args:
        rows: of a table.
        better: per column, which way is better; "" marks none.
        across: compare along each row in place of down each column.
    """
    if across:
        return tuple(replace(row, entries=_marked(row.entries, better[0])) for row in rows)
    groups = dict.fromkeys(row.group for row in rows)
    marked = {id(row): list(row.entries) for row in rows}
    for group in groups:
        own = [row for row in rows if row.group == group]
        for c, way in enumerate(better):
            for row, entry in zip(own, _marked([row.entries[c] for row in own], way), strict=True):
                marked[id(row)][c] = entry
    return tuple(replace(row, entries=tuple(marked[id(row)])) for row in rows)


def _marked(entries: Iterable[Entry], better: Better) -> tuple[Entry, ...]:
    entries = tuple(entries)
    values = [entry.value for entry in entries if entry.value is not None and not math.isnan(entry.value)]
    if len(values) < 2 or not better:  # one alone is not the best of anything
        return entries
    best = number(min(values) if better == "lower" else max(values), entries[0].decimals)
    is_best = [entry.value is not None and number(entry.value, entry.decimals) == best for entry in entries]
    if sum(is_best) > max(len(values) / 2, 1):  # what most have is no distinction
        return entries
    return tuple(replace(entry, best=own) for entry, own in zip(entries, is_best, strict=True))


def shortfall(rows: Iterable[Row]) -> tuple[str, ...]:
    """What the foot of a table must admit: cells that are missing, and images that failed."""
    entries = [entry for row in rows for entry in row.entries]
    notes = []
    missing = sum(entry.num_missing for entry in entries)
    if missing:
        notes.append(f"{missing} planned cell{' is' if missing == 1 else 's are'} missing: the run is not finished.")
    failed, images = sum(entry.num_failed for entry in entries), sum(entry.num_images for entry in entries)
    if failed:
        notes.append(f"{failed} of {images} image results failed; means are over the rest.")
    return tuple(notes)

"""Tables as GitHub's Markdown that is a table in a terminal too: padded, and prose within 80 columns."""

import re
import textwrap
import unicodedata
from typing import Final

from mrac.lab.bench.report.table import Entry, Row, Table

WIDTH: Final = 80
BEST: Final = "*"
"""Behind the best entry of a column: bold would take four characters of a line that has none to spare."""


def escape(text: str) -> str:
    """Text that Markdown leaves alone."""
    return re.sub(r"([\\`*|<>]|(?<!\w)_|_(?!\w)|\](?=\())", r"\\\1", text)


def wrap(text: str, indent: str = "") -> str:
    """A paragraph within 80 columns."""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def write_table(table: Table) -> str:
    """Title, what it shows, the table, and what is to be said of it."""
    parts = [f"### {escape(table.title)}", wrap(escape(table.about)), _grid(table)]
    if table.legend:
        parts.append(f"\\{BEST} {table.legend}")
    parts += [wrap(escape(line)) for line in table.feet]
    return "\n\n".join(part for part in parts if part) + "\n"


def _grid(table: Table) -> str:
    lines = [[escape(text) for text in (table.corner, *table.columns)]]
    group = ""
    for row in table.rows:
        if row.group != group:
            group = row.group
            lines.append([f"**{escape(group)}**", *[""] * len(table.columns)])
        lines.append([escape(row.label), *(_ours(entry) for entry in row.entries)])
        if row.has_paper:
            lines.append([f"_{row.paper_label}_", *_printed(row)])
    # A group's heading may run over its column: only the line it stands on grows.
    widths = [max(_width(line[c]) for line in lines if c or any(line[1:])) for c in range(len(lines[0]))]
    ruler = ["-" * max(widths[0], 3), *("-" * (max(width, 3) - 1) + ":" for width in widths[1:])]
    whole = sum(max(width, 3) + 3 for width in widths) + 1
    gap = " " if whole <= WIDTH else ""  # a wide table goes without the air around its columns
    return "\n".join(_line(line, widths, gap) for line in (lines[0], ruler, *lines[1:]))


def _ours(entry: Entry) -> str:
    return escape(entry.text) + (BEST if entry.best else "")


def _printed(row: Row) -> list[str]:
    return [entry.paper.text if entry.paper else "" for entry in row.entries]


def _line(cells: list[str], widths: list[int], gap: str) -> str:
    if not any(cells[1:]) and _width(cells[0]) > widths[0]:  # a group's heading that runs over its column
        return f"|{gap}{cells[0]}{gap}{'|' * len(cells)}"
    padded = [cells[0] + " " * (max(widths[0], 3) - _width(cells[0]))]
    padded += [" " * (max(width, 3) - _width(cell)) + cell for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return f"|{gap}{f'{gap}|{gap}'.join(padded)}{gap}|"


def _width(text: str) -> int:
    """Columns of a terminal: accents that combine take none."""
    return sum(not unicodedata.combining(c) for c in text)

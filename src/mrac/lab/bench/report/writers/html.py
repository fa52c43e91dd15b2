"""Tables as HTML, and the page around them: one file that needs no other, and prints."""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final

from mrac.lab.bench.report.figures.style import Saved
from mrac.lab.bench.report.table import FAILED, MISSING, Entry, Table
from mrac.lab.bench.report.verdict import KINDS, Verdict

_STYLE: Final = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1f2328; margin: 2rem auto; max-width: 62rem;
  padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { margin-top: 3rem; border-bottom: 1px solid #d0d4d9; } h3 { margin: 2rem 0 .3rem; }
p { max-width: 46rem; margin: .4rem 0; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .87rem; margin: .6rem 0; }
th, td { padding: .22rem .7rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: .2rem; }
thead th { border-bottom: 1.5px solid #1f2328; } tbody tr:last-child td { border-bottom: 1.5px solid #1f2328; }
tr.group td { font-style: italic; padding-top: .7rem; } td .paper { display: block; color: #6b7280; font-size: .8rem; }
td.best { font-weight: 700; } td .paper { font-weight: 400; } td.absent { color: #b42318; }
.note { color: #4b5563; font-size: .87rem; } ul.note { padding-left: 1.2rem; max-width: 46rem; }
figure { margin: 1rem 0; } figure img { max-width: 100%; height: auto; }
figcaption { color: #4b5563; font-size: .87rem; max-width: 46rem; }
nav ul { columns: 2; list-style: none; padding: 0; font-size: .87rem; } nav a { color: #0b5cad; text-decoration: none; }
p.warning { background: #fdecea; border-left: 4px solid #b42318; padding: .5rem .8rem; max-width: none; }
p.answer { font-size: 1.08rem; max-width: 52rem; margin: .8rem 0; }
code { font-size: .92em; background: #f5f6f8; padding: 0 .2em; }
details.verdicts { margin: .5rem 0; } summary { cursor: pointer; font-weight: 600; }
details.verdicts li { margin: .45rem 0; max-width: 56rem; } .place { font-weight: 600; margin-right: .3rem; }
.measured { display: block; color: #4b5563; font-size: .87rem; }
pre { font-size: .8rem; background: #f5f6f8; padding: .7rem; overflow-x: auto; }
@media print { body { margin: 0; max-width: none; font-size: 10px; } nav { display: none; } h2 { break-before: page; }
  .table, figure { break-inside: avoid; } .scroll { overflow: visible; } }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole document."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'
    )


def write_table(table: Table) -> str:
    """Heading, what it shows, the table and what is to be said of it."""
    lines = [f'<div class="table" id="{escape(table.key)}"><h3>{escape(table.title)}</h3><p>{escape(table.about)}</p>']
    heads = "".join(f"<th>{escape(text)}</th>" for text in (table.corner, *table.columns))
    lines.append(f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>')
    group = ""
    for row in table.rows:
        if row.group != group:
            group = row.group
            lines.append(f'<tr class="group"><td colspan="{len(table.columns) + 1}">{escape(group)}</td></tr>')
        beside = f'<span class="paper">{escape(row.paper_label)}</span>' if row.has_paper else ""
        cells = "".join(_cell(entry, row.has_paper) for entry in row.entries)
        lines.append(f"<tr><td>{escape(row.label)}{beside}</td>{cells}</tr>")
    lines.append("</tbody></table></div>")
    if table.legend:
        lines.append(f'<p class="note">Bold: {table.legend}</p>')
    lines += [f'<p class="note">{escape(line)}</p>' for line in table.feet]
    return "\n".join([*lines, "</div>"])


def write_list(lines: Iterable[str]) -> str:
    """A plain list; `code` between backquotes."""
    return f"<ul>{''.join(f'<li>{_coded(line)}</li>' for line in lines)}</ul>"


def write_counts(groups: Mapping[str, Sequence[Verdict]]) -> str:
    """How many claims of each group hold; an answered question counts with the claims."""
    lines = []
    for group, own in groups.items():
        counts = [sum(one.kind in words for one in own) for words in KINDS.values()]
        cells = "".join(f"<td>{count or '–'}</td>" for count in counts)
        lines.append(f"<tr><td>{escape(group)}</td>{cells}</tr>")
    columns = "".join(f"<th>{head.lower()}</th>" for head in ("claims and questions", *KINDS))
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def write_verdicts(kind: str, verdicts: Sequence[Verdict]) -> str:
    """Those under one heading, folded away where they are no failure: a line each, what was measured below it."""
    items = "".join(
        f'<li><span class="place">{escape(one.place)}</span> {_coded(one.says)}'
        f'<span class="measured">{escape(one.verdict)}; {_coded(one.here)}</span></li>'
        for one in verdicts
    )
    is_open = " open" if kind == next(iter(KINDS)) else ""
    summary = f"{escape(kind)} ({len(verdicts)})"
    return f'<details class="verdicts"{is_open}><summary>{summary}</summary><ul>{items}</ul></details>'


def _coded(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _cell(entry: Entry, has_paper: bool) -> str:
    names = " ".join([*(["best"] if entry.best else []), *(["absent"] if entry.state in (MISSING, FAILED) else [])])
    beside = f'<span class="paper">{escape(entry.paper.text) if entry.paper else "&nbsp;"}</span>' if has_paper else ""
    return f"<td{f' class={names!r}' if names else ''}>{escape(entry.text)}{beside}</td>"


def write_figure(saved: Saved) -> str:
    """The picture inside the page, as a drawing where there is one."""
    path = next((p for p in saved.paths if p.suffix == ".svg"), saved.paths[0])
    kind = {".svg": "image/svg+xml", ".png": "image/png"}[path.suffix]
    data = base64.b64encode(path.read_bytes()).decode()
    figure = saved.figure
    return (
        f'<figure id="{escape(figure.key)}"><h3>{escape(figure.title)}</h3>'
        f'<img alt="{escape(figure.title)}" src="data:{kind};base64,{data}">'
        f"<figcaption>{escape(figure.about)}</figcaption></figure>"
    )

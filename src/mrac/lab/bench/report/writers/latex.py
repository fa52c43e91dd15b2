"""Tables as LaTeX, to be input into a paper; of packages it needs booktabs alone."""

from typing import Final

from mrac.lab.bench.report.table import Entry, Table

_SPECIAL: Final = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "κ": r"$\kappa$", "σ": r"$\sigma$", "δ": r"$\delta$", "µ": r"$\mu$", "′": r"$'$", "±": r"$\pm$", "×": r"$\times$",
    "−": r"$-$", "–": "--", "—": "---", "·": r"$\cdot$", "≤": r"$\le$", "≥": r"$\ge$", "°": r"$^\circ$",
    "→": r"$\to$", "₁": r"$_1$", "₂": r"$_2$", "₃": r"$_3$", "…": r"\ldots{}", "“": "``", "”": "''", "’": "'",
    "[": "{[}", "]": "{]}",
}  # fmt: skip


_COLUMN_PT: Final = 240.0  # what is wider needs both columns of a page
_LETTER_PT, _GAP_PT = 4.1, 6.0  # of \footnotesize, and between columns


def escape(text: str) -> str:
    """Text that LaTeX sets as it is; brackets too, which behind a line's end would be taken for its spacing."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def write_table(table: Table) -> str:
    """A floating table; what is to be said of it stands below."""
    kind = "table*" if _width_pt(table) > _COLUMN_PT else "table"
    lines = [
        rf"\begin{{{kind}}}[t]",
        r"\centering",
        rf"\caption{{{escape(table.title)}. {escape(table.about)}}}",
        rf"\label{{tab:{table.key}}}",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{3pt}",
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\toprule",
        " & ".join([escape(table.corner), *map(escape, table.columns)]) + r" \\",
        r"\midrule",
    ]
    group = ""
    for row in table.rows:
        if row.group != group:
            group = row.group
            rule = [r"\midrule"] if lines[-1] != r"\midrule" else []
            lines += [*rule, rf"\multicolumn{{{len(table.columns) + 1}}}{{l}}{{\textit{{{escape(group)}}}}} \\"]
        lines.append(" & ".join([escape(row.label), *(_ours(entry) for entry in row.entries)]) + r" \\")
        if row.has_paper:
            printed = [rf"\textit{{{escape(entry.paper.text)}}}" if entry.paper else "" for entry in row.entries]
            lines.append(" & ".join([rf"\quad\textit{{{escape(row.paper_label)}}}", *printed]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    feet = [*([f"Bold: {table.legend}"] if table.legend else []), *table.feet]
    if feet:
        lines += [r"\par\vspace{2pt}\begin{minipage}{\linewidth}\scriptsize"]
        lines += [rf"{escape(note)}\par" for note in feet]
        lines += [r"\end{minipage}"]
    return "\n".join([*lines, rf"\end{{{kind}}}", ""])


def _width_pt(table: Table) -> float:
    lines = [(table.corner, *table.columns)]
    for row in table.rows:
        lines.append((row.label, *(entry.text for entry in row.entries)))
        lines.append((f"  {row.paper_label}", *(entry.paper.text if entry.paper else "" for entry in row.entries)))
    return sum(_LETTER_PT * max(map(len, column)) + _GAP_PT for column in zip(*lines, strict=True))


def _ours(entry: Entry) -> str:
    shown = escape(entry.text)
    return rf"\textbf{{{shown}}}" if entry.best else shown

"""What must stand beside every figure of `default`: its gate was trained on the families it is judged on here.

The table of kinds of error that a classifier never saw is quoted from docs/consensus.md, which has it once.
"""

from pathlib import Path
from typing import Final

from mrac.lab.studies.claim import FAMILIES, NOT_MEASURED

TITLE: Final = "What the gate's training had seen"
_BEGIN: Final = "**Left out of training**"
_SAYS: Final = (
    "The classifier in the gate of `default` was trained on scenes with all four families of these tables (`uniform`, "
    "`near`, `dropout`, `mixed_pixel`; shares in its [card](../src/mrac/weights/consensus_learned.md)), on other "
    "images than those scored here. The paper's gate is not trained. So the rows of `default` show it on kinds of "
    "error that it knows. On a kind that was left out of its training:"
)


def section(consensus: Path) -> str:
    """Markdown: the statement, and the rows of the four families with the words that introduce them there."""
    return f"## {TITLE}\n\n{_SAYS}\n\n{quoted(consensus)}\n"


def quoted(consensus: Path) -> str:
    """The introduction and the rows of the page's table that are about the four families; `not measured` without."""
    _, found, rest = consensus.read_text(encoding="utf-8").partition(_BEGIN) if consensus.is_file() else ("", "", "")
    words, _, table = rest.partition("\n\n")
    lines = table.partition("\n\n")[0].splitlines()
    rows = _of_families(lines[2:])
    if not found or not rows:
        return f"**{NOT_MEASURED}**: no table `{_BEGIN}` in {consensus.name}.\n"
    intro = " ".join(words.removeprefix(":").split())
    return "\n".join(
        [f"Quoted from [{consensus.name}]({consensus.name}#learned-classifier): {intro}", "", *lines[:2], *rows, ""]
    )


def _of_families(lines: list[str]) -> list[str]:
    """A row whose first column says `the same` belongs to the one above it."""
    kept, inside = [], False
    for line in lines:
        first = line.strip("| ").partition("|")[0]
        inside = inside if first.startswith("the same") else any(f"`{family}`" in first for family in FAMILIES)
        if inside:
            kept.append(line)
    return kept

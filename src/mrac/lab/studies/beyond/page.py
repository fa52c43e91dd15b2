"""Measures what our own method was asked for, from rows of finished runs: a page, CSV files and a figure.

    python -m mrac.lab.studies.beyond RUN... --out DIR

A RUN is what `mrac bench run --out RUN` or `mrac bench pack` left; a cell that is in two of them is taken from the
first, so the newest comes first. Protocols: `paper`, `beyond`, `k_sweep`, `real_outliers`, and `beyond` with variants
of the default (`--methods 'default;gate=consensus:amplitude=0.11,...'`). What is missing is said, section by section.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from mrac.io.files import write_whole
from mrac.lab.bench.report.figures.style import save
from mrac.lab.bench.report.results import KEY, Results
from mrac.lab.bench.report.writers import csv, markdown
from mrac.lab.studies.beyond.anchor_count import curve
from mrac.lab.studies.beyond.grid import nyu, regrets, wins
from mrac.lab.studies.beyond.pairs import OURS
from mrac.lab.studies.beyond.real_sensors import real
from mrac.lab.studies.beyond.section import Section
from mrac.lab.studies.beyond.variants import ablation, one_for_all
from mrac.lab.studies.runs import failed, read_runs, runs_parser

SECTIONS: Final = (nyu, wins, regrets, curve, real, ablation, one_for_all)
_COLUMNS: Final = (
    *KEY, "seed", "image", "abs_rel", "gate_precision", "gate_recall", "gate_f1", "num_wrong", "num_rejected",
    "anchors_hash", "status", "failure",
)  # fmt: skip


def sources(runs: Sequence[Path]) -> str:
    """Which runs, and whether our own method comes from more than one state of the code: then it is not one method."""
    from mrac.lab.bench.store import read_about  # noqa: PLC0415  (pyarrow: the tests of this file need none)

    lines, commits = [], set()
    for run in runs:
        about = read_about(run) or {}
        commit, methods = about.get("commit", "unknown"), about.get("methods", [])
        if any(method.partition(";")[0] == OURS for method in methods):
            commits.add(commit)
        lines.append(f"- {run.name}: commit {commit}, started {about.get('started', 'unknown')}\n")
    if len(commits) > 1:
        lines.append(f"\n**Rows of `{OURS}` come from different commits**: {', '.join(sorted(commits))}.\n")
    return "".join(lines)


def page(sections: Sequence[Section], results: Results, left_out: int, runs: str) -> str:
    """Markdown: the verdicts first, then a section each, then `runs`, see `sources`."""
    lines = ["# Beyond the paper: what was asked of `default`, and what it does\n\n"]
    lines.append("Written by `python -m mrac.lab.studies.beyond`. Brackets are 95 % intervals, images resampled.\n\n")
    lines.append("| asked | verdict |\n|---|---|\n")
    lines += [f"| {one.title[0]}: {c.asks} | **{c.verdict}** |\n" for one in sections for c in one.checks]
    for one in sections:
        lines.append(f"\n## {one.title}\n\n")
        lines += [c.line for c in one.checks]
        lines += [f"\n{note}\n" for note in one.notes]
        lines += [f"\n{markdown.write_table(table)}" for table in one.tables]
        lines += [f"\n![{drawing.title}]({drawing.key}.png)\n" for drawing in one.drawings]
    lines.append(f"\n## Images without a score\n\n{failed(results)}")
    lines.append(f"\n## Runs\n\n{runs}")
    if left_out:
        lines.append(f"\n{left_out} rows were left out: an earlier run of the list has their cell.\n")
    return "".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = runs_parser("beyond", __doc__)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    results, left_out = read_runs(given.runs, _COLUMNS)
    sections = [make(results) for make in SECTIONS]
    given.out.mkdir(parents=True, exist_ok=True)
    for table in (table for one in sections for table in one.tables):
        text = csv.write_table(table)
        write_whole(given.out / f"{table.key}.csv", lambda file, text=text: file.write(text.encode()))  # type: ignore[misc]
    for drawing in (drawing for one in sections for drawing in one.drawings):
        save(drawing, given.out, ("png",))
    whole = page(sections, results, left_out, sources(given.runs))
    write_whole(given.out / "beyond.md", lambda file: file.write(whole.encode()))
    for one in sections:
        for c in one.checks:
            Console().print(f"{one.title[0]}  {c.verdict:20}{c.asks}", soft_wrap=True, highlight=False)

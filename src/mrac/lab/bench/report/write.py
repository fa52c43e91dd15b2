"""From runs to files: report.md, report.html, cells.csv, tables/*.{csv,tex}, figures/*, photos/*."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mrac.errors import ContractError
from mrac.io.files import write_whole
from mrac.lab.bench.report.ablation import Ablation
from mrac.lab.bench.report.cells import write_cells
from mrac.lab.bench.report.contents import Section, sections
from mrac.lab.bench.report.context import Context, planned_cells
from mrac.lab.bench.report.figures.scenes import Scenes
from mrac.lab.bench.report.figures.style import KINDS, Saved, save
from mrac.lab.bench.report.opening import opening
from mrac.lab.bench.report.pages import write_html, write_markdown
from mrac.lab.bench.report.paper import Paper
from mrac.lab.bench.report.results import Results, joined
from mrac.lab.bench.report.table import Table
from mrac.lab.bench.report.verdict import Verdict
from mrac.lab.bench.report.writers import csv, latex
from mrac.lab.bench.store import read_about, read_run


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What `mrac bench report` takes.

    Attributes:
        runs: folders of `mrac bench run`, one or more.
        out: folder for the report.
        against_paper: show the paper's numbers beside ours.
        data: the data the runs saw, for figures that need images; None leaves those out.
        photos: with figures that show images, which are subject to the data sets' terms.
        ablation: ablation.json of `mrac train ablation`, or None.
        seed: of resampling.
        with_figures: draw them.
        kinds: of files that they are written as.
        judge: gives the verdicts on the rows, for the opening; called when all tables are written. None judges nothing.
        changes: what changed against earlier results and why, for the opening.
    """

    runs: tuple[Path, ...]
    out: Path
    against_paper: bool = False
    data: Path | None = None
    photos: bool = False
    ablation: Path | None = None
    seed: int = 0
    with_figures: bool = True
    kinds: tuple[str, ...] = KINDS
    judge: Callable[[Results], Sequence[Verdict]] | None = None
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """What a report came to.

    Attributes:
        num_tables: of it.
        num_figures: of it.
        num_cells: there, seeds counted apart.
        num_missing: planned and not there.
        num_failed: rows without metrics.
        photos_of: the set whose images it shows, or "".
    """

    num_tables: int
    num_figures: int
    num_cells: int
    num_missing: int
    num_failed: int
    photos_of: str = ""


def read_context(options: ReportOptions) -> Context:
    """Reads the runs.

    Raises:
        ContractError: a folder is no run.
    """
    abouts = []
    for run in options.runs:
        about = read_about(run)
        if about is None:
            raise ContractError(f"bench report: {run} has no run.json; a folder of `mrac bench run --out` is needed")
        abouts.append(about)
    columns, left_out = joined([_rows(run, about) for run, about in zip(options.runs, abouts, strict=True)])
    notes = []
    try:
        plan = planned_cells(abouts)
    except ContractError as error:  # another's method or family, which is not installed here
        plan = {}
        notes.append(f"What was planned cannot be told here, so neither can what is missing: {error}.")
    return Context(
        results=Results(columns),
        plan=plan,
        runs=tuple(abouts),
        paper=Paper() if options.against_paper else None,
        seed=options.seed,
        notes=tuple(notes),
        repeated=left_out,
        ablation=Ablation.read(options.ablation) if options.ablation else None,
    )


def _rows(run: Path, about: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns of a run, and on what it was run: times of different machines are not to be mixed."""
    columns: dict[str, list[Any]] = read_run(run).to_pydict()
    hardware = f"{about.get('device', 'cpu')}, {about.get('machine', {}).get('cores', '?')} cores"
    return columns | {"hardware": [hardware] * len(columns["image"])}


def write_report(options: ReportOptions, say: Callable[[str], None]) -> Written:
    """Writes all of it; files of an earlier report of the same name are replaced one by one.

    Raises:
        ContractError: as `read_context`.
        MissingExtra: pyarrow, or matplotlib where figures are wanted, is not installed.
    """
    context = read_context(options)
    scenes = None if options.data is None else Scenes(context, options.data)
    contents = sections(context, scenes, photos=options.photos)
    saved = _save_figures(options, contents, say) if options.with_figures else {}
    tables = [table for section in contents for table in section.tables]
    _write_tables(options.out, tables)
    _write(options.out / "cells.csv", write_cells(context))
    first = opening(context, options.judge(context.results) if options.judge else (), options.changes)
    _write_tables(options.out, [first.table] if first.table else [])
    _write(options.out / "report.md", write_markdown(context, first, contents, saved))
    _write(options.out / "report.html", write_html(context, first, contents, saved))
    results = context.results
    there = {(cell, seed) for cell in results.cells for seed in results.seeds(cell)}
    planned = {(cell, seed) for cell, seeds in context.plan.items() for seed in seeds}
    failed = int((results.columns["failure"] != "").sum()) if "failure" in results.columns else 0
    shows = scenes is not None and any(one.figure.has_photos for one in saved.values())
    photos_of = scenes.set_name if scenes is not None and shows else ""
    return Written(
        len(tables) + (first.table is not None), len(saved), len(there), len(planned - there), failed, photos_of
    )


def _write(path: Path, text: str) -> None:
    write_whole(path, lambda file: file.write(text.encode()))


def _write_tables(out: Path, tables: Sequence[Table]) -> None:
    for table in tables:
        _write(out / "tables" / f"{table.key}.csv", csv.write_table(table))
        _write(out / "tables" / f"{table.key}.tex", latex.write_table(table))


def _save_figures(options: ReportOptions, contents: Sequence[Section], say: Callable[[str], None]) -> dict[str, Saved]:
    saved = {}
    for figure in (figure for section in contents for figure in section.figures):
        say(f"figure {figure.key}")
        folder = options.out / ("photos" if figure.has_photos else "figures")
        saved[figure.key] = save(figure, folder, options.kinds)
    return saved

"""From runs to files: report.md, report.html, cells.csv, tables/*.{csv,tex}, figures/*, photos/*."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from mrac.errors import ContractError
from mrac.io.files import write_whole
from mrac.lab.bench.report.ablation import Ablation
from mrac.lab.bench.report.cells import write_cells
from mrac.lab.bench.report.contents import Section, sections
from mrac.lab.bench.report.context import Context, planned_cells
from mrac.lab.bench.report.figures.scenes import Scenes
from mrac.lab.bench.report.figures.style import KINDS, Figure, Saved, save
from mrac.lab.bench.report.paper import Paper
from mrac.lab.bench.report.results import Results, joined
from mrac.lab.bench.report.setting import setting
from mrac.lab.bench.report.writers import csv, html, latex, markdown
from mrac.lab.bench.store import read_about, read_run

TITLE = "Anchor-outlier benchmark"


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
    notes = [f"{left_out} rows of cells that an earlier run has as well were left out."] if left_out else []
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
    saved = _save_figures(options, context, contents, say) if options.with_figures else {}
    tables = [table for section in contents for table in section.tables]
    for table in tables:
        _write(options.out / "tables" / f"{table.key}.csv", csv.write_table(table))
        _write(options.out / "tables" / f"{table.key}.tex", latex.write_table(table))
    _write(options.out / "cells.csv", write_cells(context))
    _write(options.out / "report.md", _markdown(context, contents, saved))
    _write(options.out / "report.html", _html(context, contents, saved))
    results = context.results
    there = {(cell, seed) for cell in results.cells for seed in results.seeds(cell)}
    planned = {(cell, seed) for cell, seeds in context.plan.items() for seed in seeds}
    failed = int((results.columns["failure"] != "").sum()) if "failure" in results.columns else 0
    shows = scenes is not None and any(one.figure.has_photos for one in saved.values())
    photos_of = scenes.set_name if scenes is not None and shows else ""
    return Written(len(tables), len(saved), len(there), len(planned - there), failed, photos_of)


def _write(path: Path, text: str) -> None:
    write_whole(path, lambda file: file.write(text.encode()))


def _save_figures(
    options: ReportOptions, context: Context, contents: Sequence[Section], say: Callable[[str], None]
) -> dict[str, Saved]:
    wanted: list[Figure] = [figure for section in contents for figure in section.figures]
    saved = {}
    for figure in wanted:
        say(f"figure {figure.key}")
        folder = options.out / ("photos" if figure.has_photos else "figures")
        saved[figure.key] = save(figure, folder, options.kinds)
    return saved


def _about(context: Context) -> list[str]:
    """Of every run: what it was, when and on what; what several have in common is said once."""
    alike: dict[str, list[str]] = {}
    for run in context.runs:
        images = ", ".join(f"{name} {own.get('images', '?')}" for name, own in run.get("sets", {}).items())
        machine = run.get("machine", {})
        common = (
            f"Commit {run.get('commit') or '?'}, {machine.get('platform', '?')} with {machine.get('cores', '?')} "
            f"cores, device {run.get('device', '?')}. Images: {images or 'not recorded'}"
        )
        started = str(run.get("started", "?")).partition("+")[0].replace("T", " ")
        alike.setdefault(common, []).append(
            f"{run['protocol']['name']} (hash {run.get('protocol_hash', '?')}, {started})"
        )
    lines = [f"{common}. Protocols, and when they were started: {', '.join(own)}." for common, own in alike.items()]
    failed = context.results.columns.get("failure")
    num_failed = 0 if failed is None else int((failed != "").sum())
    lines.append(f"{len(context.results)} image results, {num_failed} of them failures.")
    return [*lines, *context.notes]


def _command(context: Context) -> str:
    return "\n".join(str(run.get("command", "")) for run in context.runs)


def _markdown(context: Context, contents: Sequence[Section], saved: dict[str, Saved]) -> str:
    parts = [f"# {TITLE}", *(markdown.wrap(markdown.escape(line)) for line in _about(context))]
    parts.append(f"```\n{_command(context)}\n```")
    parts.append("\n".join(markdown.wrap(f"- {markdown.escape(line)}", "  ") for line in setting(context)))
    parts.append("Contents:")
    parts.append("\n".join(f"- {section.title}: {_listed(section, saved)}" for section in contents))
    for section in contents:
        parts.append(f"## {section.title}")
        parts += [markdown.write_table(table).rstrip() for table in section.tables]
        for figure in section.figures:
            if figure.key in saved:
                path = saved[figure.key].paths[0]
                where = f"{path.parent.name}/{path.name}"
                parts += [f"### {markdown.escape(figure.title)}", f"![{figure.key}]({where})"]
                parts.append(markdown.wrap(markdown.escape(figure.about)))
    return "\n\n".join(parts) + "\n"


def _listed(section: Section, saved: dict[str, Saved]) -> str:
    figures = sum(figure.key in saved for figure in section.figures)
    counts = [(len(section.tables), "table"), (figures, "figure")]
    return ", ".join(f"{count} {word}{'s' * (count != 1)}" for count, word in counts if count)


def _html(context: Context, contents: Sequence[Section], saved: dict[str, Saved]) -> str:
    parts: list[str] = [f"<h1>{TITLE}</h1>", *(f"<p>{escape(line)}</p>" for line in _about(context))]
    parts.append(f"<pre>{escape(_command(context))}</pre>")
    parts.append(f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in setting(context))}</ul><nav>")
    for section in contents:
        items = [(table.key, table.title) for table in section.tables]
        items += [(figure.key, figure.title) for figure in section.figures if figure.key in saved]
        links = "".join(f'<li><a href="#{escape(key)}">{escape(title)}</a></li>' for key, title in items)
        parts.append(f"<strong>{escape(section.title)}</strong><ul>{links}</ul>")
    parts.append("</nav>")
    for section in contents:
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += [html.write_table(table) for table in section.tables]
        parts += [html.write_figure(saved[figure.key]) for figure in section.figures if figure.key in saved]
    return html.page(TITLE, parts)

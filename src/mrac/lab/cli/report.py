"""`mrac bench report RUN`: from a run's cells to tables and figures."""

from pathlib import Path
from typing import Any

import click

_PATH = click.Path(path_type=Path)


@click.command(name="report")
@click.argument("runs", type=_PATH, nargs=-1, required=True, metavar="RUN...")
@click.option("--against", type=click.Choice(["paper"]), help="Show these numbers beside ours.")
@click.option("--out", type=_PATH, metavar="DIR", help="Folder for the report. Default: RUN/report of the first run.")
@click.option(
    "--data",
    type=_PATH,
    metavar="DIR",
    help="The data that the runs saw: adds error against the distance to the nearest wrong reading.",
)
@click.option("--photos", is_flag=True, help="With --data: figures that show its images. Mind the terms of its sets.")
@click.option("--ablation", type=_PATH, metavar="FILE", help="ablation.json of `mrac train ablation`, for Table VI.")
@click.option("--results", type=_PATH, metavar="DIR", help="With --against: speeds and losses that claims ask for.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the resampling.")
@click.option("--no-figures", is_flag=True, help="Tables alone; matplotlib is not needed then.")
def report_command(runs: tuple[Path, ...], against: str | None, out: Path | None, **options: Any) -> None:
    """Write the tables and figures of one or more runs as Markdown, CSV, LaTeX and HTML.

    Several runs, of the grid and of its studies, make one report; a cell that two of them have is taken from the
    first. The report opens with its answer and, against the paper, with what of it holds. Writes report.md, report.html
    (one file, printable), cells.csv, tables/, figures/ and, if asked, photos/.

    \b
    Examples:
      mrac bench report runs/paper --against paper
      mrac bench report runs/paper runs/kappa runs/k_sweep --against paper --out results/all
      mrac bench report runs/paper --against paper --data data/eval --photos
    """
    from mrac.lab.bench.report.write import ReportOptions, write_report  # noqa: PLC0415  (numpy: --help should not wait)

    if options["photos"] and options["data"] is None:
        raise click.UsageError("--photos goes with --data")
    out = out or runs[0] / "report"
    files = options.pop("results") or out
    if against == "paper":
        from mrac.lab.studies.claims.page import judged  # noqa: PLC0415  (the same)

        options["judge"] = lambda results: judged(results, files)
    with_figures = not options.pop("no_figures")
    chosen = ReportOptions(runs=runs, out=out, against_paper=against == "paper", with_figures=with_figures, **options)
    written = write_report(chosen, lambda line: click.echo(line, err=True))
    short = f"; {written.num_missing} planned cells are missing" if written.num_missing else ""
    short += f"; {written.num_failed} image results are failures" if written.num_failed else ""
    click.echo(
        f"{out}: {written.num_tables} tables and {written.num_figures} figures of {written.num_cells} cells{short}"
    )
    if written.photos_of:
        click.echo(
            f"report.html and photos/ show images of {written.photos_of}: check its terms before you publish them"
        )

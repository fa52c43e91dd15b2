"""All that a folder of results has of the benchmark, made anew from its runs and the ones that are given:

    python -m mrac.lab.studies.claims.report [RUN...] --into results/benchmark--... --data DIR [--ablation FILE]

INTO/runs/NAME     each RUN, packed (NAME is its folder's name; one of that name is replaced)
INTO/report        tables and figures of all runs there, no photographs
INTO/devices.md    cells that were run on a CPU and on a GPU, compared
docs/reproduction.md   the verdicts
"""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from mrac.errors import ContractError
from mrac.io.files import write_whole
from mrac.lab.bench.report.write import ReportOptions, write_report
from mrac.lab.studies.claims import changes, page
from mrac.lab.studies.claims.devices import devices_page

_FIRST: Final = "paper"  # of a cell that two runs have, the grid's own row is taken


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN")
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="that the runs saw: for error by distance, Fig. S1")
    parser.add_argument("--ablation", type=Path, help="ablation.json of `mrac train ablation`")
    parser.add_argument("--page", type=Path, default=Path("docs/reproduction.md"))
    parser.add_argument("--changes", type=Path, default=Path("CHANGELOG.md"), help="with what changed, and why")
    given = parser.parse_args(arguments)
    console = Console(soft_wrap=True)
    runs = pack_all(given.runs, given.into / "runs", console)
    first = ReportOptions(
        runs=tuple(runs), out=given.into / "report", against_paper=True, data=given.data, ablation=given.ablation,
        kinds=("png",), judge=lambda results: page.judged(results, given.into.parent),
        changes=tuple(changes.changes(given.changes)),
    )  # fmt: skip
    report(first, console)
    text = devices_page(runs)
    write_whole(given.into / "devices.md", lambda file: file.write(text.encode()))
    words = [
        *map(str, runs),
        "--page",
        str(given.page),
        "--results",
        str(given.into.parent),
        "--changes",
        str(given.changes),
    ]
    page.main(words)


def pack_all(runs: Sequence[Path], folder: Path, console: Console) -> list[Path]:
    """Packs runs; gives all that the folder has then, the grid first.

    Raises:
        ContractError: two of them have one name.
    """
    from mrac.lab.bench.pack import pack_run  # noqa: PLC0415  (pyarrow)

    names = [run.resolve().name for run in runs]
    if len(set(names)) < len(names):
        raise ContractError(f"studies/claims/report: runs of one name: {', '.join(names)}; rename a folder")
    for run, name in zip(runs, names, strict=True):
        console.print(f"{folder / name}: {pack_run(run, folder / name)} rows")
    there = sorted(path.parent for path in folder.glob("*/run.json"))
    if not there:
        raise ContractError(f"studies/claims/report: {folder} has no run, and none was given")
    return sorted(there, key=lambda path: (path.name != _FIRST, path.name))


def report(options: ReportOptions, console: Console) -> None:
    """Tables and figures, these as pictures alone: a repository has no room for three of each."""
    out = options.out
    shutil.rmtree(out, ignore_errors=True)
    written = write_report(options, console.print)
    console.print(
        f"{out}: {written.num_tables} tables, {written.num_figures} figures, {written.num_cells} cells, "
        f"{written.num_missing} missing, {written.num_failed} image results failed"
    )


if __name__ == "__main__":
    main()

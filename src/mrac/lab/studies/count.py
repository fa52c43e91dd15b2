"""How many results a folder of runs has, each counted once.

    python -m mrac.lab.studies.count results

A result is one image under one condition by one method; a cell is all images of a set under one condition by one
method. Several runs may have the same one (clean readings are the same for every family, protocols share cells): it
counts once, the rows that the files have beside it are said too.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mrac.errors import ContractError
from mrac.lab.bench.store import CELL_COLUMNS, read_run


class Count(NamedTuple):
    """Of a folder.

    Attributes:
        results: different ones.
        cells: different ones.
        rows: in all files.
        runs: folders with a run.json and finished cells.
    """

    results: int
    cells: int
    rows: int
    runs: int


def count(folder: Path) -> Count:
    """Of all runs in a folder, at any depth.

    Raises:
        ContractError: there is none.
    """
    results: set[tuple[object, ...]] = set()
    num_rows = num_runs = 0
    for about in sorted(folder.rglob("run.json")):
        rows = read_run(about.parent).select(list(CELL_COLUMNS))
        results.update(zip(*(rows[name].to_pylist() for name in CELL_COLUMNS), strict=True))
        num_rows, num_runs = num_rows + rows.num_rows, num_runs + 1
    if not num_runs:
        raise ContractError(f"studies/count: no run in {folder}; a folder with runs of `mrac bench run` is needed")
    image = CELL_COLUMNS.index("image")
    cells = {result[:image] + result[image + 1 :] for result in results}
    return Count(len(results), len(cells), num_rows, num_runs)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    found = count(parser.parse_args(arguments).folder)
    print(f"{found.results:,} results in {found.cells:,} cells; {found.rows:,} rows in {found.runs} runs")


if __name__ == "__main__":
    main()

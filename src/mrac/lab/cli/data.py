"""`mrac data list | check`: where each data set comes from, how it is laid out, and whether a folder is so."""

from pathlib import Path

import click
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from mrac import registry
from mrac.errors import ContractError

_PATH = click.Path(path_type=Path)


@click.group(name="data")
def data_command() -> None:
    """Show where data sets come from, or check a folder.

    \b
    Examples:
      mrac data list
      mrac data check data/nyuv2
    """


@data_command.command(name="list")
def list_datasets() -> None:
    """Say of every data set where to get it and how to lay it out.

    \b
    Example:
      mrac data list
    """
    for name in registry.names("dataset"):
        about = registry.load("dataset", name).about
        table = Table.grid(Column(), Column(overflow="fold"), padding=(0, 1))
        for words in ((name, registry.summary("dataset", name)), ("  from", about.source), ("  layout", about.layout)):
            table.add_row(*map(Text, words))
        Console().print(table)


@data_command.command()
@click.argument("folder", type=_PATH)
@click.option(
    "--dataset", metavar="NAME", default="", help="Which one it holds; see `mrac data list`. Default: found out."
)
@click.option("--all", "every", is_flag=True, help="Decode every frame, not just the first, middle and last.")
def check(folder: Path, dataset: str, every: bool) -> None:
    """Verify that FOLDER is laid out as its data set should be, and count the frames of every set in it.

    Truth and scored are shares of the pixels; depth is the least, the median and the largest that is scored.

    \b
    Examples:
      mrac data check data/nyuv2
      mrac data check pack --all
      mrac data check data/diode --dataset diode
    """
    from mrac.lab.data import datasets_in  # noqa: PLC0415  (numpy and Pillow: `mrac --help` should not wait)
    from mrac.lab.data._check import check_set  # noqa: PLC0415

    found = [check_set(one, every) for one in datasets_in(folder, dataset)]
    table = Table(box=None, pad_edge=False)
    for column in ("set", "frames", "image", "truth", "scored", "depth, m", "state"):
        table.add_column(column, justify="left" if column in ("set", "state") else "right", no_wrap=True)
    for checked in found:
        table.add_row(*checked.row())
    Console().print(table)
    problems = [checked.problem for checked in found if checked.problem]
    if problems:
        raise ContractError(f"data check: {'; '.join(problems)}")


COMMAND = data_command

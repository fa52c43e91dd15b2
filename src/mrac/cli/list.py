"""`mrac list`: the names registered for each stage, and the short names of foundations with their licences."""

import importlib

import click
from rich.console import Console
from rich.table import Table

from mrac import registry


@click.command(name="list")
@click.argument("what", type=click.Choice([f"{kind}s" for kind in registry.KINDS]), metavar="KIND")
def list_names(what: str) -> None:
    """List what is registered, with one line on each.

    \b
    Examples:
      mrac list methods
      mrac list gates
    """
    stage = what.removesuffix("s")
    table = Table("name", "what it is", box=None, pad_edge=False)
    for name in sorted(registry.names(stage), key=lambda name: name != "default"):
        table.add_row(name, registry.summary(stage, name))
    Console().print(table)
    entries = registry.catalog(stage)
    if entries:
        columns = importlib.import_module(f"mrac.{stage}._catalog").COLUMNS
        short = Table(*columns, box=None, pad_edge=False)
        for entry in entries.values():
            short.add_row(*entry.row())
        Console().print("", short)


COMMAND = list_names

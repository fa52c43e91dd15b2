"""`mrac demo`: the main job on a real scene, as a picture and a table."""

from pathlib import Path

import click
from rich.console import Console

_PATH = click.Path(path_type=Path)


@click.command()
@click.option(
    "--out",
    type=_PATH,
    default=Path("demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for panel.png and numbers.json.",
)
def demo(out: Path) -> None:
    """Run the main job on a real scene: 50 readings, a quarter of them pulled near as multipath does.

    \b
    Example:
      mrac demo --out demo
    """
    from mrac.demo.run import run_demo  # noqa: PLC0415

    run_demo(out, Console())


COMMAND = demo

"""`mrac demo`: calibrates a real scene with several methods; writes a table, a picture and the inputs."""

from pathlib import Path

import click
from rich.console import Console

_PATH = click.Path(path_type=Path)


@click.command(short_help="Run on a real photograph; leave a picture and the numbers.")
@click.option(
    "--out",
    type=_PATH,
    default=Path("demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for panel.png, numbers.json, image.png and anchors.csv.",
)
def demo(out: Path) -> None:
    """Run the main job on a real scene: 50 readings, a quarter of them pulled near as multipath does.

    The image and the readings are written too, to go on with.

    \b
    Examples:
      mrac demo --out demo
      mrac calibrate demo/image.png --anchors demo/anchors.csv --out result
    """
    from mrac.demo.run import run_demo  # noqa: PLC0415

    run_demo(out, Console())


COMMAND = demo

"""`mrac view`: image, readings by verdict, depth, deviation and points in rerun's viewer, or an .rrd file of them."""

from pathlib import Path
from typing import Any

import click

_PATH = click.Path(path_type=Path)


@click.command(short_help="Look at results in 3-D with rerun, or write an .rrd file.")
@click.argument("path", type=_PATH, metavar="RESULT|DIR|BAG")
@click.option("--save", "save_path", type=_PATH, metavar="FILE.rrd", help="Write this file; no viewer is opened.")
@click.option("--image", type=_PATH, metavar="FILE|DIR", help="The photo; of many results, a folder with each one's.")
@click.option("--image-topic", metavar="TOPIC", help="The photo in a recording; needed only if there are several.")
@click.option("--camera", type=_PATH, metavar="FILE", help="Intrinsics, for points in space; see `mrac calibrate`.")
@click.option("--anchors", type=_PATH, metavar="FILE", help="Readings of an .npz, which does not hold their places.")
@click.option("--stride", type=click.IntRange(1), default=2, show_default=True, metavar="N",
              help="A point for every N pixels of a row and a column.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def view(path: Path, save_path: Path | None, stride: int, quiet: bool, **given: Any) -> None:
    """Show RESULT, a folder of many results, or a recording of `mrac bag`, in rerun's viewer.

    RESULT is a folder or an .npz of `mrac calibrate`. Image and camera are those that its report names; what is not
    there is left out, with a word. Needs the extra `view`. The viewer is a program of its own, which sends anonymous
    usage data to its makers unless `rerun analytics disable` has been given; with --save nothing is started.

    \b
    Examples:
      mrac view result
      mrac view result --camera calib.txt --save result.rrd
      mrac view results --image frames --save all.rrd
      mrac bag drive.mcap --copy /camera/image --out depth.mcap
      mrac view depth.mcap
    """
    from mrac.view import frames_of, save_recording, show  # noqa: PLC0415
    from mrac.view.frame import ViewFrame  # noqa: PLC0415

    told: set[str] = set()

    def tell(frame: ViewFrame) -> ViewFrame:
        for note in frame.notes:
            if not quiet and note not in told:
                click.echo(f"mrac: {frame.name}: {note}", err=True)
            told.add(note)
        return frame

    frames = map(tell, frames_of(path, **given))
    if save_path is None:
        show(frames, stride=stride)
        return
    count = save_recording(frames, save_path, stride=stride)
    if not quiet:
        click.echo(f"{count} frame{'s' if count != 1 else ''}: {save_path} (open it with: rerun {save_path})")


COMMAND = view

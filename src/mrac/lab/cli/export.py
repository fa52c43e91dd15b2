"""`mrac export`: a method as ONNX files, for programs without Python."""

import re
from pathlib import Path

import click

from mrac.errors import ContractError, MissingExtra

_PATH = click.Path(path_type=Path)


def _size(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, int]:
    """HxW in pixels, as (H, W)."""
    found = re.fullmatch(r"([1-9][0-9]{0,4})[x×]([1-9][0-9]{0,4})", value)
    if not found:
        raise click.BadParameter(f"{value!r} is not HEIGHTxWIDTH, such as 480x640")
    return int(found[1]), int(found[2])


@click.command(name="export", short_help="Write a method as ONNX files, for programs without Python.")
@click.option("--method", default="mrac", show_default=True, metavar="NAME", help="See `mrac list methods`.")
@click.option("--out", type=_PATH, required=True, metavar="DIR", help="Folder for the files.")
@click.option("--size", callback=_size, default="480x640", show_default=True, metavar="HxW", help="Of the images.")
@click.option(
    "--max-anchors", type=click.IntRange(3, 1024), default=256, show_default=True, metavar="N", help="Most readings."
)
@click.option(
    "--part",
    "parts",
    type=click.Choice(["pipeline", "foundation", "head"]),
    multiple=True,
    help="What to write; may be repeated. Default: all that can be.",
)
def export_command(method: str, out: Path, size: tuple[int, int], max_anchors: int, parts: tuple[str, ...]) -> None:
    """Write a method as ONNX files that run without Python and without this package.

    pipeline.onnx takes an image, readings and their number, and gives depth, its deviation and the verdicts. Each file
    is compared with the library before it is written; export.json says how far they are apart.

    \b
    Examples:
      mrac export --method mrac --out exported
      mrac export --method cfa_ols --out exported --size 352x1216 --max-anchors 512
      mrac export --method default --out exported --part foundation
    """
    try:
        import onnx  # noqa: F401, PLC0415  (only those who export have it)
    except ImportError:
        raise MissingExtra("export", "lab") from None
    from mrac.lab.export.folder import export  # noqa: PLC0415
    from mrac.lab.export.pipeline.whole import Sizes  # noqa: PLC0415
    from mrac.pipeline import Calibrator  # noqa: PLC0415

    if out.exists() and not out.is_dir():
        raise ContractError(f"--out {out}: is a file; a folder is needed")
    done = export(Calibrator(method), out, Sizes(size, max_anchors), parts)  # type: ignore[arg-type]
    for file in done.files:
        click.echo(f"{file}: {file.stat().st_size / 1e6:.2f} MB")
    for measured in done.check.values():
        for name, value in measured.items():
            if name.endswith("difference"):
                click.echo(f"{name.replace('_', ' ')} from the library: {value:.1e}")
    if done.missing:
        click.echo(f"no pipeline.onnx: {'; '.join(done.missing.values())}", err=True)


COMMAND = export_command

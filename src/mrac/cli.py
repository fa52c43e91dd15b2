"""The command line: `mrac calibrate | demo | list | bench | cache | data | train`.

An error is one line, exit code 2; `--debug` shows more.
"""

import importlib
import io
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from mrac import registry
from mrac.cli_bench import bench_command
from mrac.cli_cache import cache_command
from mrac.cli_data import data_command
from mrac.cli_train import train_command
from mrac.errors import MracError
from mrac.version import __version__

if TYPE_CHECKING:
    from mrac.types import MetricDepth

_PATH = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mrac")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Dense metric depth from one image and a few range readings, some of them wrong.

    \b
    Examples:
      mrac demo --out demo
      mrac calibrate a.jpg --anchors a.csv --out result
      mrac list methods
    """


@cli.command()
@click.argument("image", type=_PATH)
@click.option(
    "--anchors",
    "anchors_path",
    type=_PATH,
    required=True,
    metavar="FILE",
    help="Readings: .csv with columns u,v,z; .npz with uv_px,z_m; or a sparse 16-bit depth .png.",
)
@click.option(
    "--anchors-scale",
    type=float,
    metavar="N",
    help="Stored depth per metre: 256 for KITTI, 1000 for mm. Default: metres, or what the PNG states.",
)
@click.option("--out", type=_PATH, required=True, metavar="DIR", help="Folder for the results; made if missing.")
@click.option("--method", default="default", show_default=True, metavar="NAME", help="See `mrac list methods`.")
@click.option(
    "--relative",
    "relative_path",
    type=_PATH,
    metavar="FILE",
    help="Relative depth made elsewhere, as --foundation precomputed:FILE: .npz (values, space), .npy or 16-bit .png.",
)
@click.option(
    "--relative-space",
    metavar="SPACE",
    default="",
    help="Of that file: depth, inverse_depth or log_depth. Default: what the .npz says, else inverse_depth.",
)
@click.option(
    "--foundation",
    metavar="SPEC",
    help="In place of our network: none, dav2-small, onnx:model.onnx, ...; see `mrac list foundations`.",
)
@click.option("--gate", metavar="SPEC", help="Which anchors are trusted, e.g. none or theil_sen_mad:kappa=3.")
@click.option("--fit", metavar="SPEC", help="The closed-form line, e.g. ols or theil_sen.")
@click.option("--head", metavar="SPEC", help="From the line to dense depth, e.g. affine or kriging.")
@click.option("--space", metavar="SPACE", help="Space of the line. Default: the method's, or the relative depth's own.")
@click.option(
    "--nearer-than",
    "nearer_than_m",
    type=click.FloatRange(0.0, math.inf, min_open=True, max_open=True),
    multiple=True,
    metavar="D",
    help="Also write nearer.npz: the probability of every pixel to be nearer than D metres. May be repeated.",
)
@click.option("--no-cache", is_flag=True, help="Compute the relative depth even where `mrac cache` has kept it.")
def calibrate(image: Path, anchors_path: Path, out: Path, **options: Any) -> None:
    """Turn IMAGE and sparse readings into dense metric depth with a verdict on every reading.

    Writes depth.npz (depth_m, sigma_m), depth.png (16 bit), preview.png and report.json (fit, status and of every
    reading whether it is kept, why, and its probability of being wrong) to --out.

    \b
    Examples:
      mrac calibrate a.jpg --anchors a.csv --out result
      mrac calibrate a.jpg --anchors lidar.png --anchors-scale 256 --out result
      mrac calibrate a.jpg --anchors a.csv --relative dav2.npy --out result
      mrac calibrate a.jpg --anchors a.csv --gate ransac --out result
      mrac calibrate a.jpg --anchors a.csv --nearer-than 0.5 --out result
    """
    # Numba and scipy take most of a second to import: `mrac list` and `--help` should not wait for them.
    from mrac.anchors import read_anchors  # noqa: PLC0415
    from mrac.cache import default_store  # noqa: PLC0415
    from mrac.foundation.precomputed import Precomputed  # noqa: PLC0415
    from mrac.io.image import read_image  # noqa: PLC0415
    from mrac.io.result import RESULT_FILES, write_result  # noqa: PLC0415
    from mrac.pipeline import Calibrator  # noqa: PLC0415

    relative_path = options.pop("relative_path")
    relative_space = options.pop("relative_space")
    if relative_path is not None and options["foundation"] is not None:
        raise click.UsageError("--relative and --foundation exclude each other")
    if relative_space and relative_path is None:
        raise click.UsageError("--relative-space goes with --relative")
    if relative_path is not None:
        options["foundation"] = Precomputed(str(relative_path), relative_space)
    scale, nearer_than_m = options.pop("anchors_scale"), options.pop("nearer_than_m")
    for path in (image, anchors_path, relative_path):
        if path is not None and path.resolve() in [(out / name).resolve() for name in RESULT_FILES]:
            raise click.UsageError(f"--out {out} would overwrite the input {path}; choose another folder")
    options["cache"] = None if options.pop("no_cache") else default_store()
    calibrator = Calibrator(**options)
    pixels = read_image(image)
    anchors = read_anchors(anchors_path, scale, (pixels.shape[0], pixels.shape[1]))
    result = calibrator(pixels, anchors)
    inputs = {
        "image": str(image),
        "anchors": str(anchors_path),
        "anchors_scale": scale,
        "relative": None if relative_path is None else str(relative_path),
        "nearer_than_m": list(nearer_than_m),
    }
    write_result(out, result, anchors, inputs, nearer_than_m)
    click.echo(f"{out}: {_in_one_line(result)}")


def _in_one_line(result: "MetricDepth") -> str:
    """What a person wants to know first."""
    keep = result.anchors.keep
    words = [
        f"depth {result.depth_m.min():.2f} to {result.depth_m.max():.2f} m",
        f"{keep.sum()} of {keep.size} anchors kept",
        f"status {result.status}",
        *(["relative depth from the cache"] if result.cache == "hit" else []),
    ]
    return "; ".join(words)


@cli.command(name="list")
@click.argument("what", type=click.Choice([f"{kind}s" for kind in registry.KINDS]))
def list_names(what: str) -> None:
    """List what is registered, with one line on each.

    \b
    Examples:
      mrac list methods
      mrac list gates
    """
    stage = what.removesuffix("s")
    table = Table("name", "what it is", box=None, pad_edge=False)
    for name in registry.names(stage):
        table.add_row(name, registry.summary(stage, name))
    Console().print(table)
    entries = registry.catalog(stage)
    if entries:
        columns = importlib.import_module(f"mrac.{stage}._catalog").COLUMNS
        short = Table(*columns, box=None, pad_edge=False)
        for entry in entries.values():
            short.add_row(*entry.row())
        Console().print("", short)


@cli.command()
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


cli.add_command(bench_command)
cli.add_command(cache_command)
cli.add_command(data_command)
cli.add_command(train_command)


def main() -> None:
    """Entry point: any error of ours, or of the user's, is one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console without Greek or accents shows "?" and goes on
            stream.reconfigure(errors="replace")
    debug = "--debug" in sys.argv[1:]
    try:
        # --debug is taken anywhere on the line: nobody remembers which side of the command an option belongs to.
        code = cli.main([word for word in sys.argv[1:] if word != "--debug"], standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.exceptions.Abort:
        click.echo("mrac: stopped", err=True)
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        click.echo(f"mrac: {_one_line(error)}", err=True)
        sys.exit(2 if isinstance(error, (click.ClickException, MracError, OSError)) else 1)
    sys.exit(code if isinstance(code, int) else 0)


def _one_line(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return " ".join(error.format_message().split())
    if isinstance(error, MracError):
        return " ".join(str(error).split())
    if isinstance(error, OSError):
        return f"{error.filename2 or error.filename or 'file'}: {error.strerror or error}"
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"internal error ({what}); --debug shows where. Please report it."

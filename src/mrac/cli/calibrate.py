"""`mrac calibrate`: one image and its anchors to dense metric depth, written to a folder."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from mrac.result import MetricDepth

_PATH = click.Path(path_type=Path)


@click.command(short_help="Dense metric depth from one image and its anchors.")
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
@click.option("--gate", metavar="SPEC", help="Weighs and rejects anchors, e.g. none or theil_sen_mad:kappa=3.")
@click.option("--fit", metavar="SPEC", help="From relative to metric depth, e.g. ols or theil_sen.")
@click.option("--head", metavar="SPEC", help="From the fit to dense depth, e.g. affine or kriging.")
@click.option("--space", metavar="SPACE", help="Space of the fit. Default: the method's, or the relative depth's own.")
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
    # Numba and scipy take most of a second to import, which `mrac list` and `--help` do without.
    from mrac.anchors import read_anchors  # noqa: PLC0415
    from mrac.foundation.precomputed import Precomputed  # noqa: PLC0415
    from mrac.io.image import read_image  # noqa: PLC0415
    from mrac.pipeline import Calibrator  # noqa: PLC0415
    from mrac.result.folder import RESULT_FILES, write_result  # noqa: PLC0415
    from mrac.runtime.cache import default_store  # noqa: PLC0415

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
    """Range of depth, number of anchors kept and status, in one line."""
    keep = result.anchors.keep
    words = [
        f"depth {result.depth_m.min():.2f} to {result.depth_m.max():.2f} m",
        f"{keep.sum()} of {keep.size} anchors kept",
        f"status {result.status}",
        *(["relative depth from the cache"] if result.cache == "hit" else []),
    ]
    return "; ".join(words)


COMMAND = calibrate

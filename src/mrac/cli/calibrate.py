"""`mrac calibrate`: one image and its anchors to dense metric depth, written to a folder."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mrac.cli.source_options import read_given, source_options, take_source

if TYPE_CHECKING:
    from mrac.result import MetricDepth

_PATH = click.Path(path_type=Path)


@click.command(short_help="Dense metric depth from one image and its anchors.")
@click.argument("image", type=_PATH)
@source_options
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
    "--device",
    default="cpu",
    show_default=True,
    envvar="MRAC_DEVICE",
    show_envvar=True,
    metavar="NAME",
    help="Runs our networks and onnx:FILE: cpu, cuda, ..., auto; see `mrac list devices`.",
)
@click.option(
    "--nearer-than",
    "nearer_than_m",
    type=click.FloatRange(0.0, math.inf, min_open=True, max_open=True),
    multiple=True,
    metavar="D",
    help="Also write nearer.npz: the probability of every pixel to be nearer than D metres. May be repeated.",
)
@click.option(
    "--save",
    "also",
    type=_PATH,
    multiple=True,
    metavar="FILE",
    help="Also write depth to a .png, .exr, .tif, .npz, .bin (COLMAP) or, with --camera, a .ply. May be repeated.",
)
@click.option("--png-format", metavar="NAME", help="Scale of those .png: mm, kitti, tum, realsense, scannet.")
@click.option(
    "--fix", multiple=True, metavar="NAME", help="Put right what a warning names: units, swapped_uv, image_size, ..."
)
@click.option("--no-cache", is_flag=True, help="Compute the relative depth even where `mrac cache` has kept it.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, for programs.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("-v", "--verbose", is_flag=True, help="Also print stages, times and why readings were rejected.")
def calibrate(image: Path, out: Path, **options: Any) -> None:
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
      mrac calibrate a.png --anchors a.bin --camera c.txt --pose c.txt --out r
      mrac calibrate a.jpg --anchors d.png --from depth --anchors-scale mm --out r
      mrac calibrate a.jpg --anchors z.json --from zones --out r
      mrac calibrate a.jpg --anchors sparse/0 --metres-per-unit 0.05 --out r
      mrac calibrate a.jpg --anchors a.csv --camera c.json --save a.ply --out r

    Exit codes: 0 done, also where the report has warnings; 1 an internal error; 2 a mistake in the call or a file,
    named in one line; 130 interrupted.
    """
    # Numba and scipy take most of a second to import, which `mrac list` and `--help` do without.
    from mrac.io.image import read_image  # noqa: PLC0415
    from mrac.pipeline import Calibrator  # noqa: PLC0415
    from mrac.result.folder import RESULT_FILES, write_result  # noqa: PLC0415
    from mrac.runtime.cache import default_store  # noqa: PLC0415

    source = take_source(options)
    show = {name: options.pop(name) for name in ("as_json", "quiet", "verbose")}
    also, png_format, names = options.pop("also"), options.pop("png_format"), options.pop("fix")
    relative_path = _relative_file(options)
    nearer_than_m = options.pop("nearer_than_m")
    _refuse_overwriting([image, relative_path, *source.values()], out, [out / name for name in RESULT_FILES], also)
    _check_png_format(png_format, also)
    options["cache"] = None if options.pop("no_cache") else default_store()
    calibrator = Calibrator(**options)
    pixels = read_image(image)
    anchors, camera, sensor = read_given(image, (pixels.shape[1], pixels.shape[0]), source)
    anchors = calibrator.fixed(pixels, anchors, names, camera=camera) if names else anchors
    anchors = anchors if sensor is None else sensor.apply(anchors)
    result = calibrator(pixels, anchors, camera=camera)
    inputs = {
        "image": str(image),
        "relative": None if relative_path is None else str(relative_path),
        "nearer_than_m": list(nearer_than_m),
        "fix": list(names),
        **{name: str(value) if isinstance(value, Path) else value for name, value in source.items()},
    }
    write_result(out, result, anchors, inputs, nearer_than_m, pixels)
    for path in also:
        chosen = png_format if path.suffix.lower() == ".png" else None
        result.save(path, image=pixels, anchors=anchors, camera=camera, format=chosen)
    if show["as_json"]:
        click.echo(json.dumps(json.loads((out / "report.json").read_text(encoding="utf-8"))))
    elif not show["quiet"]:
        click.echo(f"{out}: {_in_one_line(result)}")
        for line in (*_warnings(result), *(_details(result) if show["verbose"] else ())):
            click.echo(line)


def _relative_file(options: dict[str, Any]) -> Path | None:
    """Turns --relative into the foundation that reads it; gives its path."""
    from mrac.foundation.precomputed import Precomputed  # noqa: PLC0415

    path: Path | None = options.pop("relative_path")
    space = options.pop("relative_space")
    if path is not None and options["foundation"] is not None:
        raise click.UsageError("--relative and --foundation exclude each other")
    if space and path is None:
        raise click.UsageError("--relative-space goes with --relative")
    if path is not None:
        options["foundation"] = Precomputed(str(path), space)
    return path


def _refuse_overwriting(inputs: list[Any], out: Path, written: list[Path], also: tuple[Path, ...]) -> None:
    """Raises `click.UsageError` where a file that is read would be replaced, or one of --out's by another of --save."""
    read = {path.resolve(): path for path in inputs if isinstance(path, Path)}
    for path in written:
        if path.resolve() in read:
            taken = read[path.resolve()]
            raise click.UsageError(f"--out {out} would overwrite the input {taken}; choose another folder")
    own = {path.resolve() for path in (out, *written)}
    for path in also:
        if path.resolve() in read:
            raise click.UsageError(
                f"--save {path} would overwrite the input {read[path.resolve()]}; choose another name"
            )
        if path.resolve() in own:
            raise click.UsageError(f"--save {path} would overwrite what --out {out} writes; choose another name")


def _check_png_format(name: str | None, also: tuple[Path, ...]) -> None:
    if name is not None and not any(path.suffix.lower() == ".png" for path in also):
        raise click.UsageError("--png-format goes with --save FILE.png")


def _warnings(result: "MetricDepth") -> list[str]:
    return [f"warning {w.name}: {w.message}; {w.advice}" for w in result.warnings]


def _details(result: "MetricDepth") -> list[str]:
    """Reasons with their counts, stages, and times."""
    reasons = Counter(result.anchors.reason.tolist())
    return [
        "reasons: " + ", ".join(f"{word} {count}" for word, count in reasons.most_common()),
        "stages: " + ", ".join(f"{stage} {name}" for stage, name in result.stages.items()),
        "device: " + _device(result),
        "times: " + ", ".join(f"{stage} {ms:.0f} ms" for stage, ms in result.timings_ms.items()),
    ]


def _device(result: "MetricDepth") -> str:
    """The device that was asked for, what ran, and why not another."""
    used = result.device
    ran = ", ".join(f"{network} on {provider}" for network, provider in used.providers.items()) or "no network ran"
    return f"{used.asked}; {ran}" + (f" ({used.reason})" if used.reason else "")


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

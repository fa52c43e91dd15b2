"""`mrac calibrate`: images and their anchors to dense metric depth, each written to a folder."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mrac.cli.frame import calibrated, inputs_entry, take_relative
from mrac.cli.printable import printable
from mrac.cli.source_options import read_given, source_options, take_source

if TYPE_CHECKING:
    from mrac.result import MetricDepth

_PATH = click.Path(path_type=Path)


@click.command(short_help="Dense metric depth from images and their anchors.")
@click.argument("images", type=_PATH, nargs=-1, required=True, metavar="IMAGE|DIR|PATTERN|VIDEO")
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
    help="Also write depth to a .png, .exr, .tif, .npz, .bin (COLMAP) or, with --camera, a .ply. May be repeated. Of "
    "many frames an ending, as --save .npz: OUT/NAME.npz in place of the folder OUT/NAME.",
)
@click.option("--png-format", metavar="NAME", help="Scale of those .png: mm, kitti, tum, realsense, scannet.")
@click.option(
    "--fix", multiple=True, metavar="NAME", help="Put right what a warning names: units, swapped_uv, image_size, ..."
)
@click.option("--restart", is_flag=True, help="Of many frames: compute those again that an earlier run has finished.")
@click.option("--no-cache", is_flag=True, help="Compute the relative depth even where `mrac cache` has kept it.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, of many frames a line for each.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("-v", "--verbose", is_flag=True, help="Also print stages, times and why readings were rejected.")
def calibrate(images: tuple[Path, ...], out: Path, **options: Any) -> int:
    """Turn IMAGE and sparse readings into dense metric depth with a verdict on every reading.

    Writes depth.npz (depth_m, sigma_m), depth.png (16 bit), preview.png and report.json (fit, status and of every
    reading whether it is kept, why, and its probability of being wrong) to --out.

    Several images, a folder, a 'pattern' in quotes or a video: the same for each frame, in OUT/NAME/. --anchors and
    other files are then a folder or pattern with a file of the same stem for each frame, one file for all, or a table
    with a column `frame`. A second run goes on where the first one ended.

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
      mrac calibrate frames --anchors readings --out results
      mrac calibrate walk.mp4 --anchors readings.csv --save .npz --out results

    Exit codes: 0 done, also where the report has warnings; 1 an internal error; 2 a mistake in the call or a file,
    named in one line, or of many frames some that failed, named at the end; 130 interrupted.
    """
    # Numba and scipy take most of a second to import, which `mrac list` and `--help` do without.
    if _is_many(images, options["anchors_path"], options["kind"]):
        from mrac.cli.many import calibrate_many  # noqa: PLC0415

        return calibrate_many(images, out, options)
    _calibrate_one(images[0], out, options)
    return 0


def _is_many(images: tuple[Path, ...], anchors: Path, kind: str | None) -> bool:
    """Whether a command is about many frames: by what it names as images, or as readings of a kind."""
    from mrac.frames.images import is_pattern  # noqa: PLC0415
    from mrac.io.video import is_video  # noqa: PLC0415
    from mrac.sfm import holds_model  # noqa: PLC0415

    if len(images) > 1 or images[0].is_dir() or is_pattern(images[0]) or is_video(images[0]):
        return True
    if kind == "colmap" or not anchors.is_dir():
        return is_pattern(anchors)
    return any(anchors.iterdir()) and not holds_model(anchors)


def _calibrate_one(image: Path, out: Path, options: dict[str, Any]) -> None:
    from mrac.foundation.precomputed import Precomputed  # noqa: PLC0415
    from mrac.io.image import read_image  # noqa: PLC0415
    from mrac.pipeline import Calibrator  # noqa: PLC0415
    from mrac.result.folder import RESULT_FILES, write_result  # noqa: PLC0415
    from mrac.runtime.cache import default_store  # noqa: PLC0415

    source = take_source(options)
    show = {name: options.pop(name) for name in ("as_json", "quiet", "verbose")}
    also, png_format, fixes = options.pop("also"), options.pop("png_format"), options.pop("fix")
    relative_path, relative_space = take_relative(options)
    if relative_path is not None:
        options["foundation"] = Precomputed(str(relative_path), relative_space)
    nearer_than_m = options.pop("nearer_than_m")
    if options.pop("restart"):
        raise click.UsageError("--restart is for many frames; one is always computed")
    _refuse_overwriting([image, relative_path, *source.values()], out, [out / name for name in RESULT_FILES], also)
    _check_png_format(png_format, also)
    options["cache"] = None if options.pop("no_cache") else default_store()
    calibrator = Calibrator(**options)
    pixels = read_image(image)
    given = read_given(image, (pixels.shape[1], pixels.shape[0]), source)
    result, anchors = calibrated(calibrator, pixels, given, fixes)
    inputs = inputs_entry(image, relative_path, nearer_than_m, fixes, source)
    write_result(out, result, anchors, inputs, nearer_than_m, pixels)
    for path in also:
        chosen = png_format if path.suffix.lower() == ".png" else None
        result.save(path, image=pixels, anchors=anchors, camera=given[1], format=chosen)
    if show["as_json"]:
        click.echo(json.dumps(json.loads((out / "report.json").read_text(encoding="utf-8"))))
    elif not show["quiet"]:
        click.echo(printable(f"{out}: {_in_one_line(result)}"))
        for line in (*_warnings(result), *(_details(result) if show["verbose"] else ())):
            click.echo(printable(line))


def _refuse_overwriting(inputs: list[Any], out: Path, written: list[Path], also: tuple[Path, ...]) -> None:
    """Raises `click.UsageError` where a file that is read would be replaced, or one of --out's by another of --save."""
    from mrac.io.input_file import resolved  # noqa: PLC0415

    read = {resolved(path): path for path in inputs if isinstance(path, Path)}
    for path in written:
        if resolved(path) in read:
            taken = read[resolved(path)]
            raise click.UsageError(f"--out {out} would overwrite the input {taken}; choose another folder")
    own = {resolved(path) for path in (out, *written)}
    for path in also:
        if resolved(path) in read:
            raise click.UsageError(
                f"--save {path} would overwrite the input {read[resolved(path)]}; choose another name"
            )
        if resolved(path) in own:
            raise click.UsageError(f"--save {path} would overwrite what --out {out} writes; choose another name")


def _check_png_format(name: str | None, also: tuple[Path, ...]) -> None:
    if name is not None and not any(path.suffix.lower() == ".png" for path in also):
        raise click.UsageError("--png-format goes with --save FILE.png")


def _warnings(result: "MetricDepth") -> list[str]:
    return [f"{w.kind} {w.name}: {w.message}; {w.advice}" for w in result.warnings]


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

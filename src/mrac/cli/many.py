"""`mrac calibrate` of a folder, a pattern, several images or a video: one result for each frame, resumable."""

from pathlib import Path
from typing import Any

import click

from mrac.cli.frame import take_relative
from mrac.cli.frame_run import FILES, FrameRun, of_images, of_video
from mrac.cli.source_options import take_source
from mrac.cli.summary import Reporter
from mrac.errors import ContractError
from mrac.frames import FrameFiles, FrameTable, Manifest, list_images, match
from mrac.frames.images import is_pattern
from mrac.io.input_file import resolved
from mrac.io.video import is_video, num_frames
from mrac.pipeline import Calibrator
from mrac.result.save import SUFFIXES
from mrac.runtime.cache import default_store
from mrac.runtime.parallel import num_cores
from mrac.stream import in_order
from mrac.version import __version__


def calibrate_many(given: tuple[Path, ...], out: Path, options: dict[str, Any]) -> int:
    """Calibrates all frames that are not finished yet.

    Returns:
        The exit code: 0, or 2 where frames failed; they are listed, and the others are done.

    Raises:
        ContractError: there are no frames, or files do not match, or --out holds results of other options.
    """
    show = {name: options.pop(name) for name in ("as_json", "quiet", "verbose")}
    video = given[0] if len(given) == 1 and is_video(given[0]) else None
    images = [] if video else _images(given)
    source = {**take_source(options), "relative_path": None}
    source["relative_path"], relative_space = take_relative(options)
    matched = _matched(source, images)
    endings = _endings(options, out, [*images, *([video] if video else [])])
    store = None if options.pop("no_cache") or video else default_store()  # no frame of a video comes twice
    plan = {name: options.pop(name) for name in ("fix", "nearer_than_m", "png_format", "restart")}
    restart = plan.pop("restart")
    files = {*FILES, "image_name"}
    decisive = {**options, **plan, **{k: v for k, v in source.items() if k not in files}, "save": endings}
    Calibrator(**options)  # a wrong name is one error, not one for every frame
    if plan["nearer_than_m"] and endings:
        raise click.UsageError("--nearer-than writes to the folders of the frames, which --save takes the place of")
    manifest = Manifest(out, {**decisive, "relative_space": relative_space, "mrac": __version__}, restart)
    run = FrameRun(
        manifest=manifest, source=source, matched=matched, options={**options, "cache": store}, fixes=plan["fix"],
        nearer_than_m=plan["nearer_than_m"], endings=endings, png_format=plan["png_format"],
        relative_space=relative_space,
    )  # fmt: skip
    total = len(images) if video is None else num_frames(video)
    if video is not None and "anchors_path" in matched:  # of frames without readings there is no result
        total = len(matched["anchors_path"])
    frames = of_images(run, images) if video is None else of_video(run, video)
    with manifest, Reporter(out, total, **show) as reporter:
        # One thread more than cores: one of them usually waits for the disk.
        for record in in_order(run.work, frames, num_cores() + 1, run.read):
            if "error" not in record and "skipped" not in record:
                manifest.add(record)
            reporter.add(record)
    if not reporter.num_frames:  # images have theirs, or there is an error before
        raise ContractError(
            f"--anchors {source['anchors_path']}: no readings for any frame of {video}; files are named by the number "
            "of their frame, from 0 (000012.csv), a table has it in its column `frame`"
        )
    return reporter.finish()


def _images(given: tuple[Path, ...]) -> list[Path]:
    images = list_images(given)
    missing = [path for path in images if not path.is_file()]
    if missing:
        raise ContractError(f"images: {missing[0]}: no such file")
    wrong = [path for path in images if path.suffix.lower() in (".csv", ".txt", ".tsv", ".npz", ".json", ".npy")]
    if wrong:
        raise click.UsageError(f"{wrong[0]} is no image; quote a pattern of readings: --anchors 'folder/*.csv'")
    if videos := [path for path in images if is_video(path)]:
        raise click.UsageError(f"{videos[0]}: a video is calibrated by itself, without other files beside it")
    return images


def _matched(source: dict[str, Any], images: list[Path]) -> dict[str, FrameFiles | FrameTable]:
    """The options that have a file, or rows, for each frame. Images must have all of them; of a video, frames may."""
    if source["image_name"] is not None:
        raise click.UsageError("--image-name is for a single image; of many, each has the name of its file")
    matched: dict[str, FrameFiles | FrameTable] = {}
    for name, option in FILES.items():
        path = source[name]
        if path is None:
            continue
        if not is_pattern(path) and not path.exists():
            raise ContractError(f"{option} {path}: no such file or folder")
        tables = name == "anchors_path" and source["kind"] in (None, "table")
        found = match(path, option, frozenset(images), tables)
        if found is not None:
            found.check_all([image.stem for image in images])
            matched[name] = found
        elif name == "relative_path":
            raise click.UsageError(f"--relative {path}: one file for many frames; a folder with one for each is needed")
    return matched


def _endings(options: dict[str, Any], out: Path, inputs: list[Path]) -> tuple[str, ...]:
    """Those of --save, which in a run of many frames is an ending alone."""
    endings = tuple(str(path) for path in options.pop("also"))
    for ending in endings:
        if ending.lower() not in SUFFIXES:
            raise click.UsageError(
                f"--save {ending}: of many frames it is one of {', '.join(SUFFIXES)} alone, and writes "
                f"{out}/NAME{ending if ending.startswith('.') else '.npz'} in place of the folder {out}/NAME"
            )
    if options["png_format"] is not None and ".png" not in endings:
        raise click.UsageError("--png-format goes with --save .png")
    taken = {resolved(path) for path in inputs}
    for path in (out / f"{image.stem}{ending}" for image in inputs for ending in endings):
        if resolved(path) in taken:
            raise click.UsageError(f"--save would overwrite the input {path}; choose another --out")
    return endings

"""`mrac batch`: folders, Parquet files and recordings to files of depth, resumable, on this machine or on Ray."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mrac.cli.printable import printable
from mrac.io.input_file import resolved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mrac.batch_jobs.executors import Resources
    from mrac.batch_jobs.job import Frame, Job, Outcome
    from mrac.batch_jobs.run import Summary

_PATH = click.Path(path_type=Path)
_KINDS = ("table", "depth", "cloud", "zones", "scan")  # mrac.anchors.sources.SOURCES that are one file for one image
_SHOWN = 10  # failures that are printed; the manifest has all


@click.command(short_help="Many frames to files of depth, resumable, on this machine or on Ray.")
@click.argument("inputs", type=_PATH, nargs=-1, required=True, metavar="INPUT...")
@click.option("--out", type=_PATH, required=True, metavar="DIR", help="Folder for the results; made if missing.")
@click.option("--executor", type=click.Choice(("local", "ray")), default="local", show_default=True, help="Who works.")
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes that calibrate. Default: the cores.")
@click.option("--format", type=click.Choice(("npz", "parquet")), default="npz", show_default=True, help="Of a result.")
@click.option("--check", type=click.Choice(("hash", "size")), default="hash", show_default=True,
              help="How files of an earlier run are checked.")  # fmt: skip
@click.option("--cpus-per-worker", "cpus", type=click.FloatRange(0.0, min_open=True), default=1.0, show_default=True,
              metavar="X", help="Ray: cores that it counts for a worker.")  # fmt: skip
@click.option("--gpus-per-worker", "gpus", type=click.FloatRange(0.0), default=0.0, show_default=True, metavar="X",
              help="Ray: GPUs, or a share of one, for a worker; loading and committing have none.")  # fmt: skip
@click.option("--method", default="default", show_default=True, metavar="NAME", help="See `mrac list methods`.")
@click.option("--foundation", metavar="SPEC", help="In place of the method's; as of `mrac calibrate`, so are the next.")
@click.option("--gate", metavar="SPEC", help="Weighs and rejects anchors.")
@click.option("--fit", metavar="SPEC", help="From relative to metric depth.")
@click.option("--head", metavar="SPEC", help="From the fit to dense depth.")
@click.option("--space", metavar="SPACE", help="Space of the fit.")
@click.option("--anchors", "anchors_folder", type=_PATH, metavar="DIR", help="Readings, if not beside the images.")
@click.option("--from", "kind", type=click.Choice(_KINDS), help="What the files of readings are. Default: by suffix.")
@click.option("--anchors-scale", "scale", metavar="N", help="Stored depth per metre, or its name: mm, kitti, tum.")
@click.option("--camera", type=_PATH, metavar="FILE", help="Intrinsics of all images.")
@click.option("--camera-name", metavar="NAME", help="Which camera of that file.")
@click.option("--pose", type=_PATH, metavar="FILE", help="Camera from sensor.")
@click.option("--sensor", metavar="NAME", help="Noise, range and sentinels; see `mrac list sensors`.")
@click.option("--max-anchors", type=click.IntRange(1), metavar="N", help="Of a dense source, spread evenly.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, for programs.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def batch(inputs: tuple[Path, ...], **options: Any) -> None:
    """Calibrate every frame of INPUT...: folders, Parquet files, or recordings.

    In a folder (and those below it), an image and its readings have the same stem: a.jpg and a.csv. A row of a Parquet
    file has id, image (bytes) or path, u_px, v_px, z_m. A recording (.mcap, .bag, .db3, a ROS 2 folder) has one topic
    of images and one of readings, as for `mrac bag`; --from chooses between depth, cloud and scan. Writes ID.npz (or
    ID.parquet) for each frame and manifest.jsonl to --out. Each frame is committed by itself: stop or kill the command,
    give it again, and it goes on; what is committed is not computed again, what is damaged is made anew.

    \b
    Examples:
      mrac batch frames/ --out depth
      mrac batch images/ --anchors lidar/ --anchors-scale kitti --out depth
      mrac batch part-0.parquet part-1.parquet --out depth --format parquet
      mrac batch drive-1.mcap drive-2.mcap --from cloud --out depth
      mrac batch frames/ --out depth --executor ray --workers 8

    Exit codes: 0 all frames done; 2 some failed (they are in the manifest, with the reason; the others are done), or a
    mistake in the call; 1 an internal error; 130 interrupted.
    """
    from mrac.batch_jobs.executors import Resources  # noqa: PLC0415
    from mrac.batch_jobs.run import list_frames  # noqa: PLC0415
    from mrac.runtime.parallel import num_cores  # noqa: PLC0415

    as_json, quiet, executor = (options.pop(name) for name in ("as_json", "quiet", "executor"))
    cpus, gpus, workers = (options.pop(name) for name in ("cpus", "gpus", "workers"))
    if executor == "local" and (gpus or cpus != 1.0):
        raise click.UsageError("--cpus-per-worker and --gpus-per-worker go with --executor ray")
    resources = Resources(workers=workers or num_cores(), cpus=cpus, gpus=gpus)
    frames = list_frames(inputs, options.pop("anchors_folder"), options["kind"])
    out = options["out"]
    summary = _run(_job(options), frames, executor, resources, quiet=quiet or as_json)
    if as_json:
        click.echo(json.dumps(_values(summary)))
    elif not quiet:
        _print_table(summary, out)
    for record in summary.failures[:_SHOWN]:
        click.echo(printable(f"mrac: {record.id}: {record.error}"), err=True)
    if summary.failures:
        told = f"{len(summary.failures)} of {len(frames)} frames failed"
        click.echo(f"mrac: {told}; {out / 'manifest.jsonl'} has each with its reason", err=True)
        click.get_current_context().exit(2)


def _job(options: dict[str, Any]) -> "Job":
    """The job of the command's options."""
    from mrac.batch_jobs.readings import Readings  # noqa: PLC0415
    from mrac.batch_jobs.run import make_job  # noqa: PLC0415
    from mrac.pipeline import Calibrator  # noqa: PLC0415

    names = ("kind", "scale", "camera", "camera_name", "pose", "sensor", "max_anchors")
    given = {name: options.pop(name) for name in names}
    files = {name: str(resolved(given[name])) for name in ("camera", "pose") if given[name] is not None}
    out, format_name, check = (options.pop(name) for name in ("out", "format", "check"))
    return make_job(Calibrator(**options), out, Readings(**{**given, **files}), format_name, check)


def _run(job: "Job", frames: "Sequence[Frame]", executor: str, resources: "Resources", *, quiet: bool) -> "Summary":
    """The job under a progress bar."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    from mrac.batch_jobs.run import run_job  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True), disable=quiet) as bar:
        task, num_failed = bar.add_task("calibrating", total=len(frames), note=""), 0

        def show(outcome: "Outcome") -> None:
            nonlocal num_failed
            num_failed += outcome.action == "failed"
            bar.update(task, advance=1, note=f"{num_failed} failed" if num_failed else "")

        return run_job(job, frames, executor, resources, show)


def _values(summary: "Summary") -> dict[str, Any]:
    """The summary as plain values."""
    return {
        "actions": dict(summary.actions),
        "statuses": dict(summary.statuses),
        "failures": {record.id: record.error for record in summary.failures},
        "seconds": summary.seconds,
        "frames_per_second": summary.num_computed / summary.seconds if summary.seconds else 0.0,
        "stage_ms": summary.stage_ms,
    }


def _print_table(summary: "Summary", out: Path) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table("frames", "number", title=f"{out}: {sum(summary.actions.values())} frames, {summary.seconds:.1f} s")
    for action in ("computed", "repaired", "kept", "failed"):
        table.add_row(action, str(summary.actions[action]))
    for status, number in summary.statuses.most_common():
        if status != "failed":
            table.add_row(f"status {status}", str(number))
    if summary.num_computed:
        table.add_row("computed a second", f"{summary.num_computed / summary.seconds:.1f}")
    for stage, ms in summary.stage_ms.items():
        table.add_row(f"{stage}, mean", f"{ms:.1f} ms")
    Console().print(table)


COMMAND = batch

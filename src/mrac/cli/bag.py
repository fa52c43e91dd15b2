"""`mrac bag`: a recording of a robot (MCAP, ROS 1, ROS 2) to a recording with depth, resumable."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from mrac.recordings.opened import Recording
    from mrac.recordings.run import BagOptions, BagRun
    from mrac.recordings.topics import Candidate, Chosen

_PATH = click.Path(path_type=Path)
_KINDS = ("depth", "cloud", "scan", "range")  # mrac.recordings.topics.READING_KINDS, which imports more


@click.command(short_help="Depth for a recording of ROS 1, ROS 2 or MCAP, as MCAP; resumable.")
@click.argument("source", type=_PATH, metavar="IN")
@click.option("--out", type=_PATH, metavar="OUT.mcap", help="The recording to write.")
@click.option("--list", "only_list", is_flag=True, help="Show the topics and which options would fit; do nothing else.")
@click.option("--image-topic", metavar="TOPIC", help="Image or CompressedImage of the camera.")
@click.option("--depth-topic", multiple=True, metavar="TOPIC", help="Depth image: 32FC1 m, 16UC1 mm, compressedDepth.")
@click.option("--cloud-topic", multiple=True, metavar="TOPIC", help="PointCloud2. Each of these may be repeated.")
@click.option("--scan-topic", multiple=True, metavar="TOPIC", help="LaserScan.")
@click.option("--range-topic", multiple=True, metavar="TOPIC", help="Range.")
@click.option("--info-topic", metavar="TOPIC", help="CameraInfo. Default: camera_info beside the image.")
@click.option("--camera", "camera_path", type=_PATH, metavar="FILE", help="Intrinsics in place of the CameraInfo.")
@click.option("--camera-name", metavar="NAME", help="Which camera of that file.")
@click.option("--pose", "pose_path", type=_PATH, metavar="FILE", help="Camera from sensor, in place of /tf.")
@click.option("--registered", is_flag=True, help="Depth images show the image's view, whatever their frame_id.")
@click.option("--fixed-frame", default="", metavar="FRAME", help="Move readings to the image's time by it, e.g. odom.")
@click.option("--slop", "slop_s", type=click.FloatRange(0.0), default=0.02, show_default=True, metavar="S",
              help="Largest difference in seconds between the header stamps of image and readings.")  # fmt: skip
@click.option("--every", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="One image of N.")
@click.option(
    "--start", "start_s", type=click.FloatRange(0.0), default=0.0, metavar="S", help="Seconds after the first image."
)
@click.option("--end", "end_s", type=click.FloatRange(0.0), metavar="S", help="Likewise.")
@click.option("--anchors-scale", "scale", metavar="N", help="Of a depth image, stored units per metre: mm, tum, ...")
@click.option("--max-anchors", type=click.IntRange(1), default=500, show_default=True, metavar="N",
              help="Of a depth image or a cloud, spread evenly.")  # fmt: skip
@click.option("--sensor", "sensor_name", metavar="NAME", help="Noise, range, sentinels; see `mrac list sensors`.")
@click.option("--method", default="default", show_default=True, metavar="NAME", help="See `mrac list methods`.")
@click.option("--foundation", metavar="SPEC", help="In place of our network: none, dav2-small, onnx:FILE, ...")
@click.option("--gate", metavar="SPEC", help="Weighs and rejects readings.")
@click.option("--fit", metavar="SPEC", help="From relative to metric depth.")
@click.option("--head", metavar="SPEC", help="From the fit to dense depth.")
@click.option("--device", default="cpu", show_default=True, envvar="MRAC_DEVICE", show_envvar=True, metavar="NAME",
              help="Runs our networks and onnx:FILE; see `mrac list devices`.")  # fmt: skip
@click.option("--video", is_flag=True, help="Use readings of past frames too: steadier (docs/video.md), one core.")
@click.option("--prefix", default="/mrac", show_default=True, metavar="NAME", help="Of the topics that are written.")
@click.option("--cloud-stride", type=click.IntRange(0), default=4, show_default=True, metavar="N",
              help="A point for every N pixels of a row and a column; 0: no cloud.")  # fmt: skip
@click.option("--copy", multiple=True, metavar="TOPIC", help="Also write this topic of the input; `all`: all of them.")
@click.option("--compression", type=click.Choice(("zstd", "none")), default="zstd", show_default=True, help="Of OUT.")
@click.option("--restart", is_flag=True, help="Compute again what an earlier run has finished.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each frame.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@click.option("-v", "--verbose", is_flag=True, help="Also print a line for each frame.")
def bag(source: Path, out: Path | None, only_list: bool, **options: Any) -> int:
    """Calibrate every image of the recording IN with the readings nearest to it in time.

    IN is an .mcap, a folder of ROS 2, a .db3 or a ROS 1 .bag. Topics that are not named are taken if there is only one
    that fits. Cameras are taken from CameraInfo, the sensors' places from /tf and /tf_static. OUT.mcap has, for each
    image, with its stamp and frame: depth (32FC1 metres, 16UC1 millimetres), sigma, CameraInfo, a coloured cloud, every
    reading with its verdict, and diagnostics. Give a command again that was stopped or killed, and it goes on.

    \b
    Examples:
      mrac bag drive.mcap --list
      mrac bag drive.mcap --out depth.mcap
      mrac bag desk.bag --image-topic /rgb --depth-topic /depth --out d.mcap
      mrac bag walk/ --cloud-topic /lidar --fixed-frame odom --out d.mcap
      mrac bag drone.mcap --scan-topic /scan --pose pose.txt --out d.mcap

    Exit codes: 0 all frames done; 2 some failed (named at the end, and in the diagnostics of OUT), or a mistake in the
    call; 1 an internal error; 130 interrupted.
    """
    from mrac.recordings.opened import Recording  # noqa: PLC0415
    from mrac.recordings.topics import candidates, choose  # noqa: PLC0415

    with Recording(source) as recording:
        found = candidates(recording)
        if only_list:
            _print_topics(recording, found)
            return 0
        if out is None:
            raise click.UsageError("--out OUT.mcap is needed, or --list")
        named = [(kind, topic) for kind in _KINDS for topic in options.pop(f"{kind}_topic")]
        chosen = choose(found, options.pop("image_topic"), named, options.pop("info_topic"))
        show = {name: options.pop(name) for name in ("as_json", "quiet", "verbose")}
        if not show["quiet"]:
            for note in chosen.notes:
                click.echo(f"mrac: {note}", err=True)
        restart = options.pop("restart")
        made = _options(options, recording, chosen)
        return _run(recording, chosen, made, options, out, show, restart=restart)


def _run(
    recording: "Recording", chosen: "Chosen", made: "BagOptions", stages: dict[str, Any], out: Path,
    show: dict[str, bool], *, restart: bool,
) -> int:  # fmt: skip
    """The run under a progress bar."""
    from mrac.cli.summary import Reporter  # noqa: PLC0415
    from mrac.pipeline import Calibrator  # noqa: PLC0415
    from mrac.recordings.run import BagRun, checked_output  # noqa: PLC0415

    checked_output(out, recording, restart)
    calibrator = Calibrator(**stages)
    run = BagRun(recording, chosen, made, _counter(show["quiet"]))
    told = _tell(run, (), show["quiet"])
    with Reporter(out, len(run), **show) as reporter:
        run.run(calibrator, out, reporter.add, restart=restart)
    _tell(run, told, show["quiet"])  # damage that only the second reading met
    return reporter.finish()


def _counter(quiet: bool) -> Any:
    """Shows how far the first reading is, on a terminal."""
    from rich.console import Console  # noqa: PLC0415

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        return lambda number: None
    return lambda number: console.print(f"first reading: {number} messages", end="\r", highlight=False)


def _tell(run: "BagRun", known: "tuple[str, ...]", quiet: bool) -> "tuple[str, ...]":
    notes = tuple(note for note in run.notes if note not in known)
    if not quiet:
        for note in notes:
            click.echo(f"mrac: {note}", err=True)
    return (*known, *notes)


def _options(options: dict[str, Any], recording: "Recording", chosen: "Chosen") -> "BagOptions":
    """Takes what is not the calibrator's out of the command's options."""
    from mrac.camera import read_camera, read_pose  # noqa: PLC0415
    from mrac.recordings.decode import Geometry, first_size  # noqa: PLC0415
    from mrac.recordings.frames import Window  # noqa: PLC0415
    from mrac.recordings.readings import ReadingOptions  # noqa: PLC0415
    from mrac.recordings.run import BagOptions  # noqa: PLC0415
    from mrac.sensors import sensor  # noqa: PLC0415

    camera_path, name, pose_path = (options.pop(each) for each in ("camera_path", "camera_name", "pose_path"))
    if pose_path is not None and len(chosen.readings) > 1:
        raise click.UsageError(
            f"--pose is of one sensor, {len(chosen.readings)} topics of readings arrived; record /tf"
        )
    if name is not None and camera_path is None and pose_path is None:
        raise click.UsageError("--camera-name goes with --camera or --pose")
    geometry = Geometry(
        camera=None
        if camera_path is None
        else read_camera(camera_path, name, size=first_size(recording, chosen.image)),
        pose=None if pose_path is None else read_pose(pose_path, name),
        registered=options.pop("registered"),
        fixed_frame=options.pop("fixed_frame"),
    )
    preset = options.pop("sensor_name")
    readings = ReadingOptions(
        sensor=None if preset is None else sensor(preset),
        scale=options.pop("scale"),
        max_anchors=options.pop("max_anchors"),
    )
    window = Window(**{each: options.pop(each) for each in ("start_s", "end_s", "every", "slop_s")})
    copied = options.pop("copy")
    rest = {each: options.pop(each) for each in ("prefix", "cloud_stride", "video", "compression")}
    copied = tuple(recording.topics) if "all" in copied else copied
    return BagOptions(window=window, geometry=geometry, readings=readings, copy=copied, **rest)


def _print_topics(recording: "Recording", found: "list[Candidate]") -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    words = {"info": "--info-topic", "tf": "read by itself", "": ""}
    table = Table("topic", "type", "messages", "option", title=str(recording.path), title_justify="left")
    for one in found:
        kind = one.type.rpartition("/")[2] + (f"\n{one.detail}" if one.detail else "")
        table.add_row(one.name, kind, str(one.count), words.get(one.use, f"--{one.use}-topic"))
    Console().print(table)
    for fault in recording.faults:
        click.echo(f"mrac: {recording.path}: {fault}", err=True)


COMMAND = bag

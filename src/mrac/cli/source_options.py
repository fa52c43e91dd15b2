"""The options of `mrac calibrate` that say where readings come from, and what they make of a file."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

if TYPE_CHECKING:
    from mrac.anchors import Anchors
    from mrac.camera import Camera
    from mrac.sensors import Sensor

_PATH = click.Path(path_type=Path)
_KINDS = ("table", "depth", "cloud", "zones", "scan", "colmap")  # mrac.anchors.sources.SOURCES, which imports more

_Given: TypeAlias = "tuple[Anchors, Camera | None, Sensor | None]"


def _two_angles(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """45,45 as two numbers."""
    if value is None:
        return None
    try:
        across, down = (float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not two angles in degrees, as 45,45", ctx, param) from None
    return across, down


_OPTIONS = (
    click.option(
        "--anchors",
        "anchors_path",
        type=_PATH,
        required=True,
        metavar="FILE",
        help="Readings: a .csv with columns u,v,z, or what any sensor writes; see --from.",
    ),
    click.option(
        "--from",
        "kind",
        type=click.Choice(_KINDS),
        help="What FILE is: table (.csv, .npz, sparse .png), depth image, point cloud, zones of a time-of-flight "
        "sensor, laser scan, COLMAP folder. Default: by its suffix.",
    ),
    click.option(
        "--anchors-scale",
        "scale",
        metavar="N",
        help="Stored depth per metre, or its name: mm, kitti (256), tum (5000), realsense, scannet. Default: metres, "
        "or what the file states.",
    ),
    click.option("--camera", "camera_path", type=_PATH, metavar="FILE", help="Intrinsics: KITTI, ROS, COLMAP, JSON."),
    click.option("--camera-name", metavar="NAME", help="Which camera of that file, e.g. 2 for KITTI's P2."),
    click.option("--pose", "pose_path", type=_PATH, metavar="FILE", help="Camera from sensor: 4×4, KITTI calib, JSON."),
    click.option("--depth-camera", type=_PATH, metavar="FILE", help="Intrinsics of a depth image of another camera."),
    click.option("--confidence", type=_PATH, metavar="FILE", help="Confidence of a depth image, e.g. ARKit's 0, 1, 2."),
    click.option(
        "--fov", "fov_deg", callback=_two_angles, metavar="H,V", help="Of a zone sensor, degrees; with --camera."
    ),
    click.option(
        "--turned",
        "rotation_deg",
        type=click.Choice(("90", "180", "270")),
        help="Turns a zone sensor's frame counter-clockwise, in degrees, as its mounting needs.",
    ),
    click.option(
        "--mirrored", "mirror", type=click.Choice(("horizontal", "vertical")), help="Mirrors such a frame, after that."
    ),
    click.option("--metres-per-unit", type=float, metavar="X", help="Scale of a COLMAP model; 1 if it is metric."),
    click.option("--image-name", metavar="NAME", help="Of the image in a COLMAP model. Default: its file's name."),
    click.option("--sensor", metavar="NAME", help="Noise, range and sentinels of a sensor; see `mrac list sensors`."),
    click.option("--max-anchors", type=click.IntRange(1), metavar="N", help="Of a dense source, spread evenly."),
)


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_source(options: dict[str, Any]) -> dict[str, Any]:
    """Takes the options of this module out of all `options` of a command."""
    names = ("anchors_path", "kind", "scale", "camera_path", "camera_name", "pose_path", "depth_camera", "confidence")
    more = ("fov_deg", "rotation_deg", "mirror", "metres_per_unit", "image_name", "sensor", "max_anchors")
    return {name: options.pop(name) for name in (*names, *more)}


def read_given(image: Path, size: tuple[int, int], source: dict[str, Any]) -> "_Given":
    """The readings that `source` (of `take_source`) names, for an image of `size` (width, height), and its camera.

    The sensor is for the caller to apply, once mistakes in the readings are put right: its noise goes by metres.
    """
    from mrac.anchors.sources import SourceOptions, read_source  # noqa: PLC0415
    from mrac.camera import read_camera, read_pose  # noqa: PLC0415
    from mrac.result.inputs import fitted_camera  # noqa: PLC0415
    from mrac.sensors import sensor  # noqa: PLC0415

    camera_path, name, pose_path = source["camera_path"], source["camera_name"], source["pose_path"]
    if name is not None and camera_path is None and pose_path is None:
        raise click.UsageError("--camera-name goes with --camera or --pose")
    camera = None
    if camera_path is not None:
        camera = fitted_camera(read_camera(camera_path, name, size=size), size[::-1], f"--camera {camera_path}")
    preset = None if source["sensor"] is None else sensor(source["sensor"])
    depth_camera = source["depth_camera"]
    options = SourceOptions(
        kind=source["kind"] or "",
        scale=source["scale"],
        image_size=size,
        image_name=source["image_name"] or image.name,
        camera=camera,
        pose=None if pose_path is None else read_pose(pose_path, name),
        depth_camera=None if depth_camera is None else read_camera(depth_camera),
        confidence=source["confidence"],
        fov_deg=source["fov_deg"],
        rotation_deg=None if source["rotation_deg"] is None else int(source["rotation_deg"]),
        mirror=source["mirror"],
        metres_per_unit=source["metres_per_unit"],
        max_anchors=source["max_anchors"],
    )
    options = options if preset is None else preset.completed(options)
    return read_source(source["anchors_path"], options), camera, preset

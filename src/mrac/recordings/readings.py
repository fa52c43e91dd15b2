"""Anchors of range messages: depth images, point clouds, laser scans and single ranges, of rosbags or of rclpy."""

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from mrac.anchors import Anchors
from mrac.anchors.laser_scan import LaserScan
from mrac.camera import Camera, Pose
from mrac.errors import ContractError
from mrac.recordings.images import depth_image
from mrac.recordings.points import coordinates
from mrac.sensors import Sensor

_WIDEST_RAD: Final = math.radians(150.0)  # of a cone; a wider one has no place in an image


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How messages become anchors.

    Attributes:
        sensor: noise, range and sentinels; None: what messages say.
        scale: of a depth image, stored units per metre or their name, in place of REP 118.
        max_anchors: at most so many of a depth image or a cloud, spread evenly; None: all.
    """

    sensor: Sensor | None = None
    scale: str | None = None
    max_anchors: int | None = 500


@dataclass(frozen=True, kw_only=True)
class View:
    """The image that readings are taken to.

    Attributes:
        size: (width, height).
        camera: of the image, at its size; None where none is known.
        pose: camera from sensor; None: the sensor's frame is the camera's.
        depth_camera: of a depth image that another camera took; None: it shows the image's own view.
    """

    size: tuple[int, int]
    camera: Camera | None = None
    pose: Pose | None = None
    depth_camera: Camera | None = None


def readings_of(kind: str, message: Any, view: View, options: ReadingOptions) -> Anchors:
    """The anchors of a message.

    Args:
        kind: `depth` (an Image by REP 118, or compressedDepth), `cloud` (PointCloud2), `scan` (LaserScan) or `range`
            (Range), these two by REP 117.
        message: of that type.
        view: see there.
        options: see there.

    Raises:
        ContractError: the message is not of the kind, cannot be decoded, or a camera is needed and there is none.
    """
    if kind == "depth":
        anchors = _of_depth(message, view, options)
    elif view.camera is None:
        raise ContractError(
            f"readings: a {kind} needs the image's camera; record its CameraInfo (--info-topic), or give --camera FILE"
        )
    elif kind == "cloud":
        anchors = Anchors.from_point_cloud(
            coordinates(message), view.camera, view.pose, max_anchors=options.max_anchors
        )
    elif kind == "scan":
        anchors = _of_scan(message, view.camera, view.pose)
    else:
        anchors = _of_range(message, view.camera, view.pose)
    return anchors if options.sensor is None else options.sensor.apply(anchors)


def _of_depth(message: Any, view: View, options: ReadingOptions) -> Anchors:
    values, per_metre = depth_image(message)
    registration: dict[str, Any] = {}
    if view.depth_camera is not None:
        height, width = values.shape
        registration = {
            "camera": view.camera,
            "depth_camera": view.depth_camera.resized(width, height),
            "pose": view.pose,
        }
    return Anchors.from_depth_map(
        values,
        scale=per_metre if options.scale is None else options.scale,
        image_size=view.size,
        max_anchors=options.max_anchors,
        **registration,
    )


def _of_scan(message: Any, camera: Camera, pose: Pose | None) -> Anchors:
    return Anchors.from_laser_scan(
        np.asarray(message.ranges, np.float64),
        camera,
        Pose.identity() if pose is None else pose,
        angle_min=float(message.angle_min),
        angle_increment=float(message.angle_increment),
        range_min=float(message.range_min),
        range_max=float(message.range_max),
    )


def _of_range(message: Any, camera: Camera, pose: Pose | None) -> Anchors:
    """One reading along the sensor's x axis, of an area as wide as its cone there."""
    near, far, length = float(message.min_range), float(message.max_range), float(message.range)
    if near == far:
        raise ContractError(
            f"readings: a Range of min_range = max_range = {far:g} arrived, a detector of presence (REP 117), which "
            "measures no distance; leave its topic out"
        )
    beam = LaserScan(np.zeros(1), np.array([length]), near, far)
    anchors = Anchors.from_laser_scan(beam, camera, Pose.identity() if pose is None else pose)
    if not len(anchors):
        return anchors
    angle = min(max(float(message.field_of_view), 0.0), _WIDEST_RAD)
    share = 2.0 * math.tan(0.5 * angle)  # of its distance, the cone's width
    z_m = float(anchors.z_m[0])
    width = share * length / z_m if math.isfinite(length) and z_m > 0.0 else share
    variance = float(getattr(message, "variance", 0.0))
    return replace(
        anchors,
        sigma_m=np.array([math.sqrt(variance)]) if variance > 0.0 else None,
        extent_px=np.array([[width * camera.fx_px, width * camera.fy_px]]),
    )

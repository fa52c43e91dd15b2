"""A result as ROS messages: depth (REP 118), standard deviation, camera, coloured cloud, readings, diagnostics."""

from collections import Counter
from typing import Any, Final

import numpy as np

from mrac.anchors import Anchors
from mrac.camera import Camera
from mrac.conventions import FloatArray, ImageArray
from mrac.recordings.camera_info import info_message
from mrac.recordings.message_classes import MessageClasses
from mrac.recordings.points import cloud_message
from mrac.result import MetricDepth

_IMAGE, _CLOUD = "sensor_msgs/msg/Image", "sensor_msgs/msg/PointCloud2"
OUTPUTS: Final = {  # below the prefix: the type, and what it is
    "depth/image": (_IMAGE, "depth, 32FC1, metres"),
    "depth/image_mm": (_IMAGE, "depth, 16UC1, millimetres, 0 beyond 65.5 m"),
    "depth/sigma": (_IMAGE, "its standard deviation, 32FC1, metres"),
    "depth/camera_info": ("sensor_msgs/msg/CameraInfo", "the camera of these images"),
    "points": (_CLOUD, "coloured points with sigma"),
    "readings": (_CLOUD, "every reading with its verdict"),
    "diagnostics": ("diagnostic_msgs/msg/DiagnosticArray", "status, counts, warnings"),
}
# A field of a cloud is a number; these are stable: new words come at the end. 255 is a word that is not here.
REASON_CODES: Final = {
    word: code
    for code, word in enumerate(
        (
            "consistent", "unjudged", "nearer_than_fit", "farther_than_fit", "nearer_than_neighbours",
            "farther_than_neighbours", "contradicts_relative_depth", "repeated_value", "not_finite", "not_positive",
            "out_of_range", "bad_sigma", "bad_extent", "bad_confidence", "low_confidence", "occluded",
            "out_of_sensor_range", "saturated", "no_return", "too_near", "invalid_range", "out_of_image", "outvoted",
            "no_relative_value",
        )
    )
}  # fmt: skip
OTHER_REASON: Final = 255
_STATUS: Final = "diagnostic_msgs/msg/DiagnosticStatus"


def result_messages(
    classes: MessageClasses,
    header: Any,
    image: ImageArray,
    anchors: Anchors,
    result: MetricDepth,
    camera: Camera | None,
    *,
    cloud_stride: int = 4,
) -> dict[str, Any]:
    """The messages of a frame by their name in OUTPUTS; without a camera there is no CameraInfo and no cloud.

    Args:
        classes: that make them.
        header: of the image: its stamp and frame are theirs.
        image: (H, W, 3) uint8, for the points' colours.
        anchors: that the calibrator got.
        result: that it gave.
        camera: of the image, at its size.
        cloud_stride: a point for every so many pixels of a row and a column; 0: no cloud.
    """
    found = {
        "depth/image": _image(classes, header, "32FC1", result.depth_m.astype("<f4")),
        "depth/image_mm": _image(classes, header, "16UC1", millimetres(result.depth_m)),
        "depth/sigma": _image(classes, header, "32FC1", result.sigma_m.astype("<f4")),
    }
    if camera is not None:
        found["depth/camera_info"] = info_message(classes, header, camera)
        if cloud_stride:
            found["points"] = _points(classes, header, image, result, camera, cloud_stride)
        found["readings"] = _readings(classes, header, anchors, result, camera)
    found["diagnostics"] = _diagnostics(classes, header, result)
    return found


def failure_message(classes: MessageClasses, header: Any, error: str) -> Any:
    """The diagnostics of an image that could not be calibrated."""
    return _array(classes, header, "ERROR", error, {})


def millimetres(depth_m: FloatArray) -> Any:
    """(H, W) uint16 of metres by REP 118: 0 is no depth, so what 16 bits do not hold is 0 and what is near 1."""
    steps = np.maximum(np.rint(depth_m.astype(np.float64) * 1000.0), 1.0)
    return np.where(steps <= 65535.0, steps, 0.0).astype("<u2")


def _image(classes: MessageClasses, header: Any, encoding: str, values: Any) -> Any:
    height, width = values.shape
    return classes.make(
        _IMAGE,
        header=header,
        height=height,
        width=width,
        encoding=encoding,
        is_bigendian=0,
        step=width * values.dtype.itemsize,
        data=classes.sequence(np.ascontiguousarray(values).view(np.uint8).ravel()),
    )


def _points(
    classes: MessageClasses, header: Any, image: ImageArray, result: MetricDepth, camera: Camera, stride: int
) -> Any:
    cloud = result.points(camera, image=image, stride=stride)
    colours = np.zeros(len(cloud.xyz_m), "<u4") if cloud.rgb is None else cloud.rgb.astype("<u4") @ _RGB
    x, y, z = np.asarray(cloud.xyz_m, "<f4").T
    # By PCL's custom the three bytes of a colour are the bits of a float.
    columns = {"x": x, "y": y, "z": z, "rgb": colours.astype("<u4").view("<f4"), "sigma": cloud.sigma_m.astype("<f4")}
    return cloud_message(classes, header, columns)


_RGB: Final = np.array([1 << 16, 1 << 8, 1], "<u4")


def _readings(classes: MessageClasses, header: Any, anchors: Anchors, result: MetricDepth, camera: Camera) -> Any:
    """Points of the readings in the camera's frame; one without a finite depth has NaN there, and its verdict."""
    verdicts = result.anchors
    xyz = camera.unproject(anchors.uv_px, anchors.z_m) if len(anchors) else np.empty((0, 3))
    x, y, z = np.where(np.isfinite(xyz).all(axis=1, keepdims=True), xyz, np.nan).astype("<f4").T
    u, v = anchors.uv_px.astype("<f4").T
    codes = [REASON_CODES.get(str(word), OTHER_REASON) for word in verdicts.reason]
    columns = {
        "x": x,
        "y": y,
        "z": z,
        "u": u,
        "v": v,
        "outlier_probability": verdicts.outlier_probability.astype("<f4"),
        "weight": verdicts.weight.astype("<f4"),
        "keep": verdicts.keep.astype("u1"),
        "reason": np.array(codes, "u1"),
    }
    return cloud_message(classes, header, columns)


def _diagnostics(classes: MessageClasses, header: Any, result: MetricDepth) -> Any:
    """Level WARN where the status is not `ok` or a usual mistake is noticed."""
    kept, total = int(result.anchors.keep.sum()), len(result.anchors)
    values = {
        "status": result.status,
        "readings": str(total),
        "kept": str(kept),
        "rejected": str(total - kept),
        "depth_min_m": f"{float(result.depth_m.min()):.6g}",
        "depth_max_m": f"{float(result.depth_m.max()):.6g}",
        **{f"reason {word}": str(count) for word, count in sorted(Counter(result.anchors.reason.tolist()).items())},
        **{f"{one.kind} {one.name}": f"{one.message}; {one.advice}" for one in result.warnings},
        **{f"stage {stage}": name for stage, name in result.stages.items()},
    }
    level = "OK" if result.status == "ok" and not any(one.is_mistake for one in result.warnings) else "WARN"
    warned = "".join(f"; {one.kind} {one.name}" for one in result.warnings)
    return _array(classes, header, level, f"{result.status}: {kept} of {total} readings kept{warned}", values)


def _array(classes: MessageClasses, header: Any, level: str, text: str, values: dict[str, str]) -> Any:
    pairs = [classes.make("diagnostic_msgs/msg/KeyValue", key=key, value=value) for key, value in values.items()]
    status = classes.make(
        _STATUS,
        level=classes.constant(_STATUS, level),
        name="mrac: depth",
        message=text,
        hardware_id=str(header.frame_id),
        values=pairs,
    )
    return classes.make("diagnostic_msgs/msg/DiagnosticArray", header=header, status=[status])

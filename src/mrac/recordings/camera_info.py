"""The camera of a sensor_msgs CameraInfo, of ROS 1 or ROS 2, and a CameraInfo of a camera."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.camera import Camera
from mrac.camera.ros import from_message
from mrac.errors import ContractError
from mrac.recordings.message_classes import MessageClasses

_NAMES: Final = {
    "pinhole": "plumb_bob",
    "radtan": "plumb_bob",
    "rational": "rational_polynomial",
    "fisheye": "equidistant",
}
_NUM_PLUMB_BOB: Final = 5


def camera_of_info(message: Any, topic: str, *, rectified: bool = False) -> Camera:
    """The camera that a message describes.

    Args:
        message: of ROS 1 (fields K, D, P) or ROS 2 (k, d, p).
        topic: for errors.
        rectified: of the rectified image (P, no distortion) rather than of the raw one (K and D).

    Raises:
        ContractError: it is not calibrated (K is 0, or P of a rectified image), or of a distortion model that is not
            known.
    """
    k, d, p = (np.asarray(getattr(message, name, getattr(message, name.upper(), ()))) for name in "kdp")
    roi = {name: int(getattr(message.roi, name)) for name in ("x_offset", "y_offset", "height", "width")}
    if not (p if rectified else k).any():
        raise ContractError(
            f"{topic}: its {'P' if rectified else 'K'} is 0, as of a camera that is not calibrated; calibrate it, or "
            "--camera FILE"
        )
    content = {
        "width": int(message.width),
        "height": int(message.height),
        "distortion_model": str(message.distortion_model),
        "k": (p.reshape(3, 4)[:, :3] if rectified else k).tolist(),
        "d": [] if rectified else d.tolist(),
        "binning_x": int(message.binning_x),
        "binning_y": int(message.binning_y),
        "roi": roi,
    }
    return from_message(Path(topic), content, None)


def info_message(classes: MessageClasses, header: Any, camera: Camera) -> Any:
    """A CameraInfo of a camera: what makes points of the depth image of that size."""
    d = np.array(camera.distortion, np.float64)
    if camera.model == "pinhole":
        d = np.zeros(_NUM_PLUMB_BOB)
    elif camera.model == "radtan":
        d = np.concatenate([d, np.zeros(_NUM_PLUMB_BOB - d.size)])
    projection = np.concatenate([camera.matrix, np.zeros((3, 1))], axis=1)
    none = {"x_offset": 0, "y_offset": 0, "height": 0, "width": 0, "do_rectify": False}
    return classes.make(
        "sensor_msgs/msg/CameraInfo",
        header=header,
        height=camera.height,
        width=camera.width,
        distortion_model=_NAMES[camera.model],
        d=classes.sequence(d),
        k=camera.matrix.ravel(),
        r=np.eye(3).ravel(),
        p=projection.ravel(),
        binning_x=0,
        binning_y=0,
        roi=classes.make("sensor_msgs/msg/RegionOfInterest", **none),
    )

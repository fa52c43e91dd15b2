"""Points of a sensor's frame in the image of a camera."""

from typing import NamedTuple

import numpy as np

from mrac.camera import Camera, Pose
from mrac.conventions import BoolArray, FloatArray, in_image


class Projected(NamedTuple):
    """N points as the camera sees them.

    Attributes:
        uv_px: (N, 2), NaN behind the camera.
        z_m: (N,) along the optical axis.
        inside: (N,), in front of the camera and within its image.
    """

    uv_px: FloatArray
    z_m: FloatArray
    inside: BoolArray


def projected(xyz_m: FloatArray, camera: Camera, pose: Pose | None) -> Projected:
    """Projects (N, 3) points; `pose` is camera from sensor, None if the points are in the camera's frame."""
    xyz = xyz_m if pose is None else pose.apply(xyz_m)
    uv = camera.project(xyz)
    inside = in_image(uv, (camera.width, camera.height))
    return Projected(uv, xyz[:, 2], inside & np.isfinite(xyz[:, 2]))

"""Points of a sensor's frame in the image of a camera."""

from typing import NamedTuple

import numpy as np

from mrac.camera import Camera, Pose
from mrac.conventions import BoolArray, FloatArray


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
    u, v = uv.T
    inside = (u >= -0.5) & (u < camera.width - 0.5) & (v >= -0.5) & (v < camera.height - 0.5)
    return Projected(uv, xyz[:, 2], np.asarray(inside & np.isfinite(xyz[:, 2])))

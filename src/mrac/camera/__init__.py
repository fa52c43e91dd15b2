"""Cameras and poses, and the files that they come in."""

from mrac.camera.model import Camera
from mrac.camera.pose import Pose
from mrac.camera.read import read_camera
from mrac.camera.read_pose import read_pose

__all__ = ["Camera", "Pose", "read_camera", "read_pose"]

"""Motion of the camera between two frames, from matched points of known depth: perspective-n-point.

The depth of the first frame is metric, so the motion is too, and past readings can be moved to where they are now.
Robust Gauss–Newton over rotation and translation, with the weights of Geman and McClure.
"""

from typing import Final, NamedTuple

import numpy as np

from mrac.camera import Camera
from mrac.conventions import FloatArray
from mrac.video.matching import Matches

_MIN_MATCHES: Final = 12  # twice what six unknowns need
_MIN_INLIERS: Final = 0.5  # of the matches
_ITERATIONS: Final = 20
_CONVERGED: Final = 1e-6
_MIN_SCALE: Final = 1.5  # pixels at 480 wide: the matches' own accuracy, half a pixel of the reduced image and more
_MAX_ERROR: Final = 0.02  # of the image's width, median: more is no motion of a rigid scene


class Motion(NamedTuple):
    """Where points of the last frame's camera lie in this frame's: rotation · point + translation.

    Attributes:
        rotation: (3, 3).
        translation_m: (3,).
        error_px: median distance of the matched points from where the motion puts them.
    """

    rotation: FloatArray
    translation_m: FloatArray
    error_px: float

    def moved(self, camera: Camera, uv_px: FloatArray, z_m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(K, 2) pixels and (K,) depth in this frame of points of the last one; NaN pixels behind the camera."""
        points = camera.unproject(uv_px, z_m) @ self.rotation.T + self.translation_m
        return camera.project(np.where(np.isfinite(points), points, -1.0)), points[:, 2]


REST: Final = Motion(np.eye(3), np.zeros(3), 0.5)


def find_motion(matches: Matches, z_m: FloatArray, camera: Camera) -> Motion | None:
    """The motion of the camera, or None where the matches show none of a rigid scene.

    Args:
        matches: N points in both frames.
        z_m: (N,) their depth in the first.
        camera: of both.
    """
    if len(matches) < _MIN_MATCHES:
        return None
    points, rays = camera.unproject(matches.before_px, z_m), camera.rays(matches.after_px)
    seen = np.isfinite(points).all(axis=1) & np.isfinite(rays).all(axis=1)
    if np.count_nonzero(seen) < _MIN_MATCHES:
        return None
    points, target = points[seen], rays[seen, :2]
    # A turn explains the typical displacement well enough to begin with.
    across, down = np.median(target - points[:, :2] / points[:, 2:], axis=0)
    rotation, translation = _turn(np.array([-down, across, 0.0])), np.zeros(3)
    least = _MIN_SCALE * camera.width / 480.0 / camera.fx_px
    unit = float(np.median(points[:, 2]))  # of translation, so that all six unknowns are of one size
    for _ in range(_ITERATIONS):
        error, at = _errors(points, target, rotation, translation)
        square = (error * error).sum(axis=1)
        scale = max(least, 1.5 * float(np.sqrt(np.median(square))))
        step = _step(error, at, 1.0 / (1.0 + square / scale**2) ** 2, unit)
        turn = _turn(step[:3])
        rotation, translation = turn @ rotation, turn @ translation + step[3:] * unit
        if np.abs(step).max() < _CONVERGED:
            break
    square = (_errors(points, target, rotation, translation)[0] ** 2).sum(axis=1)
    typical = float(np.sqrt(np.median(square))) * camera.fx_px
    if np.mean(square < (3.0 * scale) ** 2) < _MIN_INLIERS or not typical < _MAX_ERROR * camera.width:
        return None
    return Motion(rotation, translation, typical)


def _errors(
    points: FloatArray, target: FloatArray, rotation: FloatArray, translation: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(N, 2) where the points are seen less where they should be, and (N, 3) the points; focal length 1."""
    at = points @ rotation.T + translation
    at[:, 2] = np.maximum(at[:, 2], 1e-3 * np.abs(points[:, 2]))
    return at[:, :2] / at[:, 2:] - target, at


def _step(error: FloatArray, at: FloatArray, weight: FloatArray, unit: float) -> FloatArray:
    """(6,) the Gauss–Newton step of turn and shift, the shift in `unit`s."""
    x, y = at[:, 0] / at[:, 2], at[:, 1] / at[:, 2]
    near, zero = unit / at[:, 2], np.zeros(len(at))
    jacobian = np.stack(
        [
            np.stack([-x * y, 1.0 + x * x, -y, near, zero, -x * near], axis=1),
            np.stack([-1.0 - y * y, x * y, x, zero, near, -y * near], axis=1),
        ],
        axis=1,
    )
    left = np.einsum("nij,nik,n->jk", jacobian, jacobian, weight)
    right = np.einsum("nij,ni,n->j", jacobian, error, weight)
    # A little damping: on a flat wall turn and shift are hard to tell apart.
    return -np.linalg.solve(left + 1e-6 * len(at) * np.eye(6), right)


def _turn(axis: FloatArray) -> FloatArray:
    """(3, 3) rotation by the length of `axis` (3,), radians, around it."""
    angle = float(np.linalg.norm(axis))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = axis / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)

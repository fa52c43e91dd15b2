"""A rigid motion from one frame to another."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from mrac.conventions import FloatArray, frozen_numbers
from mrac.errors import ContractError

# A rotation written with three decimals passes; one of other units, a scaling or a mirroring does not.
_ROTATION_TOLERANCE = 5e-3


@dataclass(frozen=True, eq=False, init=False)
class Pose:
    """Takes points of a sensor's frame to the camera's frame ("camera from sensor"); metres.

    `camera_from_lidar = camera_from_body @ body_from_lidar`.

    Attributes:
        matrix: (4, 4), rotation and translation, last row 0 0 0 1.
    """

    matrix: FloatArray

    def __init__(self, matrix: ArrayLike) -> None:
        m = frozen_numbers(matrix, "Pose.matrix", (4, 4))
        if not np.isfinite(m).all():
            raise ContractError("Pose.matrix: NaN or infinity arrived, finite numbers are needed")
        if not np.array_equal(m[3], (0, 0, 0, 1)):
            hint = "; it looks transposed: give matrix.T" if np.array_equal(m[:, 3], (0, 0, 0, 1)) else ""
            raise ContractError(f"Pose.matrix: the last row is {m[3].tolist()}, 0 0 0 1 is needed{hint}")
        rotation = m[:3, :3]
        off = float(np.abs(rotation @ rotation.T - np.eye(3)).max())
        if off > _ROTATION_TOLERANCE or np.linalg.det(rotation) < 0:
            kind = "a mirroring" if off <= _ROTATION_TOLERANCE else f"no rotation (R·Rᵀ is {off:.2g} off the identity)"
            raise ContractError(f"Pose.matrix: its upper left 3×3 is {kind}; a rotation is needed, without scale")
        object.__setattr__(self, "matrix", m)

    @classmethod
    def identity(cls) -> Self:
        """The sensor's frame is the camera's."""
        return cls(np.eye(4))

    @classmethod
    def from_quaternion(cls, q_xyzw: ArrayLike, t_m: ArrayLike = (0.0, 0.0, 0.0)) -> Self:
        """From a quaternion, its real part last (as in ROS and scipy; nuScenes and COLMAP put it first).

        Args:
            q_xyzw: (4,), of any length > 0.
            t_m: (3,) the sensor's origin in the camera's frame.
        """
        q = frozen_numbers(q_xyzw, "Pose.from_quaternion: q_xyzw", (4,))
        length = float(np.linalg.norm(q))
        if not 0 < length < np.inf:
            raise ContractError(f"Pose.from_quaternion: q_xyzw {q.tolist()} arrived, one of length 1 is needed")
        x, y, z, w = (q / length).tolist()
        matrix = np.eye(4)
        matrix[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        matrix[:3, 3] = frozen_numbers(t_m, "Pose.from_quaternion: t_m", (3,))
        return cls(matrix)

    def apply(self, xyz_m: ArrayLike) -> FloatArray:
        """(N, 3) points of the sensor's frame → (N, 3) of the camera's."""
        points = frozen_numbers(xyz_m, "Pose.apply", (None, 3))
        with np.errstate(invalid="ignore"):  # infinite coordinates mark missing returns
            return points @ self.matrix[:3, :3].T + self.matrix[:3, 3]

    def inverse(self) -> Self:
        """Sensor from camera."""
        matrix = np.eye(4)
        # Not the transpose: written with few digits a rotation is not quite one, and the way back shall be exact.
        matrix[:3, :3] = np.linalg.inv(self.matrix[:3, :3])
        matrix[:3, 3] = -matrix[:3, :3] @ self.matrix[:3, 3]
        return type(self)(matrix)

    def __matmul__(self, other: "Pose") -> Self:
        if not isinstance(other, Pose):
            return NotImplemented
        return type(self)(self.matrix @ other.matrix)

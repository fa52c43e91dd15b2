"""A result as a coloured point cloud in the camera's frame."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mrac.camera import Camera
from mrac.clouds import PointCloud, write_ply
from mrac.conventions import BoolArray, FloatArray, ImageArray, as_number
from mrac.errors import ContractError
from mrac.result.inputs import checked_image, fitted_camera
from mrac.result.metric_depth import MetricDepth


@dataclass(frozen=True, eq=False, init=False)
class DepthPoints(PointCloud):
    """A point for every valid pixel, row by row, in the camera's frame: x right, y down, z forward.

    Attributes:
        sigma_m: (N,) standard deviation of each point's z in metres.
        valid: (H', W') which pixels of the image, every `stride`-th of each row and column, have a point: those whose
            deviation is small enough and to which a ray of the lens leads. `valid.sum()` is N.
    """

    sigma_m: FloatArray
    valid: BoolArray

    def __init__(self, xyz_m: FloatArray, rgb: ImageArray | None, sigma_m: FloatArray, valid: BoolArray) -> None:
        super().__init__(xyz_m, rgb)
        object.__setattr__(self, "sigma_m", sigma_m)
        object.__setattr__(self, "valid", valid)

    def save(self, path: Path | str) -> None:
        """Writes a PLY with x, y, z, red, green, blue (where there is an image) and sigma_m."""
        write_ply(Path(path), self.xyz_m, self.rgb, sigma_m=self.sigma_m)


def points_of(
    result: MetricDepth, camera: Camera, image: ImageArray | None, max_sigma: float | None, stride: int
) -> DepthPoints:
    """The points; see `MetricDepth.points`."""
    stride_number = as_number(stride, "points: stride: a whole number from 1 up is needed, as stride=2")
    if not stride_number >= 1 or not stride_number.is_integer():
        raise ContractError(f"points: stride={stride!r}; a whole number from 1 up is needed")
    stride = int(stride_number)
    if max_sigma is not None and not as_number(max_sigma, "points: max_sigma: metres are needed, as 0.1") > 0.0:
        raise ContractError(f"points: max_sigma={max_sigma!r}; metres > 0 are needed, or None for all points")
    image = checked_image(image, result, "points")
    camera = fitted_camera(camera, result.depth_m.shape, "points")
    depth_m, sigma_m = (values[::stride, ::stride] for values in (result.depth_m, result.sigma_m))
    v, u = np.mgrid[: depth_m.shape[0], : depth_m.shape[1]] * stride
    xyz_m = camera.unproject(np.stack([u.ravel(), v.ravel()], axis=1), depth_m.ravel())
    valid: BoolArray = np.isfinite(xyz_m[:, 0]).reshape(depth_m.shape) & (sigma_m <= (max_sigma or np.inf))
    rgb = None if image is None else image[::stride, ::stride][valid]
    return DepthPoints(xyz_m[valid.ravel()], rgb, sigma_m[valid], valid)

"""A camera: focal lengths, principal point, image size and lens distortion."""

import math
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike

from mrac.camera.distortion import NUM_COEFFICIENTS, distort, lens, undistort
from mrac.conventions import FloatArray, frozen_numbers
from mrac.errors import ContractError, shown

MODELS: Final = tuple(NUM_COEFFICIENTS)


@dataclass(frozen=True)
class Camera:
    """Projects points of the camera's frame (x right, y down, z forward, metres) to pixels, and back.

    Attributes:
        fx_px: focal length along u, in pixels.
        fy_px: along v.
        cx_px: principal point; pixel centres lie at integers, as in OpenCV (COLMAP's at 0.5: `read_camera` converts).
        cy_px: likewise.
        width: of the image that these numbers are of, in pixels.
        height: likewise.
        model: `pinhole`; `radtan` (k1, k2, p1, p2[, k3]); `rational` (k1, k2, p1, p2, k3, k4, k5, k6); `fisheye`
            (k1, k2, k3, k4): as in OpenCV.
        distortion: the model's coefficients, in that order.
    """

    fx_px: float
    fy_px: float
    cx_px: float
    cy_px: float
    width: int
    height: int
    model: str = "pinhole"
    distortion: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("fx_px", "fy_px", "cx_px", "cy_px"):
            value = _number(getattr(self, name))
            if not math.isfinite(value) or (name[0] == "f" and value <= 0):
                needed = "a number > 0" if name[0] == "f" else "a finite number"
                raise ContractError(f"Camera.{name}: {getattr(self, name)} arrived, {needed} is needed, in pixels")
            object.__setattr__(self, name, value)
        for name in ("width", "height"):
            value = _number(getattr(self, name))
            if not value.is_integer() or value < 1:
                raise ContractError(
                    f"Camera.{name}: {getattr(self, name)} arrived, a whole number > 0 is needed, in pixels"
                )
            object.__setattr__(self, name, int(value))
        if self.model not in NUM_COEFFICIENTS:
            raise ContractError(f"Camera.model: {self.model!r} arrived, one of {', '.join(MODELS)} is needed")
        numbers = tuple(map(_number, self.distortion))
        if len(numbers) not in NUM_COEFFICIENTS[self.model] or not all(map(math.isfinite, numbers)):
            count = " or ".join(map(str, NUM_COEFFICIENTS[self.model]))
            raise ContractError(
                f"Camera.distortion: {numbers} arrived; {self.model} needs {count} finite numbers, in OpenCV's order"
            )
        object.__setattr__(self, "distortion", numbers)

    @property
    def matrix(self) -> FloatArray:
        """(3, 3), K of OpenCV."""
        return np.array([[self.fx_px, 0.0, self.cx_px], [0.0, self.fy_px, self.cy_px], [0.0, 0.0, 1.0]])

    def project(self, xyz_m: ArrayLike) -> FloatArray:
        """Pixels at which points are seen, inside the image or not.

        Args:
            xyz_m: (N, 3) in the camera's frame.

        Returns:
            (N, 2) u, v; NaN where z <= 0, and where a point lies so far outside the view that the distortion model,
            which bends back there, would put it into the image (`camera.distortion`).
        """
        points = frozen_numbers(xyz_m, "Camera.project", (None, 3))
        with np.errstate(all="ignore"):
            xy: FloatArray = points[:, :2] / np.where(points[:, 2:] > 0, points[:, 2:], np.nan)
            bent = lens(self.model, self.distortion)
            if bent is not None:
                xy = distort(bent, xy)
            uv = xy * (self.fx_px, self.fy_px) + (self.cx_px, self.cy_px)
        return _whole_rows(uv)

    def rays(self, uv_px: ArrayLike) -> FloatArray:
        """Where pixels look to: (K, 2) u, v → (K, 3) with z = 1, undistorted; NaN where no ray leads to a pixel."""
        uv = frozen_numbers(uv_px, "Camera.rays", (None, 2))
        xy = (uv - (self.cx_px, self.cy_px)) / (self.fx_px, self.fy_px)
        bent = lens(self.model, self.distortion)
        if bent is not None:
            xy = undistort(bent, xy)
        return _whole_rows(np.concatenate([xy, np.ones((len(xy), 1))], axis=1))

    def unproject(self, uv_px: ArrayLike, z_m: ArrayLike) -> FloatArray:
        """(K, 2) u, v and (K,) depth along the axis → (K, 3) points in the camera's frame, in metres."""
        rays = self.rays(uv_px)
        return rays * frozen_numbers(z_m, "Camera.unproject: z_m", (len(rays),))[:, None]

    def range_to_z(self, uv_px: ArrayLike, range_m: ArrayLike) -> FloatArray:
        """(K, 2) u, v and (K,) length of the ray → (K,) depth along the axis, in metres."""
        rays = self.rays(uv_px)
        lengths = frozen_numbers(range_m, "Camera.range_to_z: range_m", (len(rays),))
        return np.asarray(lengths / np.linalg.norm(rays, axis=1))

    def resized(self, width: int, height: int) -> Self:
        """The camera of the same picture at another size: u' = (u + 0.5) · width' / width − 0.5."""
        if min(width, height) < 1:
            raise ContractError(f"Camera.resized: {width}×{height} arrived, a width and height > 0 are needed")
        across, down = width / self.width, height / self.height
        return replace(
            self,
            fx_px=self.fx_px * across,
            fy_px=self.fy_px * down,
            cx_px=(self.cx_px + 0.5) * across - 0.5,
            cy_px=(self.cy_px + 0.5) * down - 0.5,
            width=width,
            height=height,
        )


def checked_camera(camera: object, where: str) -> Camera:
    """The camera.

    Raises:
        ContractError: it is none; the message shows the right call.
    """
    if not isinstance(camera, Camera):
        raise ContractError(
            f"{where}: a Camera is needed, {shown(camera)} arrived; camera=read_camera(path), or "
            "camera=Camera(fx_px, fy_px, cx_px, cy_px, width, height)"
        )
    return camera


def _whole_rows(rows: FloatArray) -> FloatArray:
    """Rows with a number missing are NaN as a whole, so that one column tells."""
    return np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, np.nan)


def _number(value: object) -> float:
    """The number, or NaN for what is none."""
    if isinstance(value, np.ma.MaskedArray):
        return math.nan
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan

"""Anchors from a multizone time-of-flight sensor (VL53L5CX and its like): each zone is an area of the image.

A frame of such a sensor has 4 × 4 or 8 × 8 readings; each is one distance for all that its zone sees.
"""

import math
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from mrac.anchors._zone_files import ZoneFrame, as_grid, read_zones
from mrac.anchors.readings import UNFLAGGED, Anchors
from mrac.camera import Camera, Pose
from mrac.conventions import FloatArray, TextArray, as_numbers
from mrac.errors import ContractError
from mrac.units import PER_METRE, per_metre

# ST UM2884 (VL53L5CX) and UM3038 (VL53L7CX), section 5.5, table 4; read as quoted by public drivers, and all of them
# agree but revision 3, which numbers 11 to 13 otherwise: none of those is usable in either. "A target with status 5 is
# considered as 100 % valid. A status of 6 or 9 can be considered with a confidence value of 50 %. All other statuses
# are below 50 % confidence level."
STATUS_CONFIDENCE: Final = {5: 1.0, 6: 0.5, 9: 0.5}
STATUS_FLAGS: Final = {
    0: "not_updated",
    1: "signal_too_low",  # on the whole SPAD array
    2: "target_phase",
    3: "sigma_too_high",
    4: "target_inconsistent",
    7: "rate_inconsistent",
    8: "target_signal_too_low",
    10: "no_target_before",  # "range valid, but no target detected at previous range"
    11: "measurement_inconsistent",
    12: "target_blurred",  # by another one, due to the sharpener
    13: "target_data_inconsistent",
    255: "no_target",
}


def from_zones(  # noqa: PLR0913  (one option for each way to mount a sensor)
    z: ArrayLike | Path | str,
    image_size: tuple[int, int] | None = None,
    camera: Camera | None = None,
    *,
    fov_deg: tuple[float, float] | None = None,
    scale: float | str | None = None,
    status: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    columns_first: bool = False,
    rotation_deg: int = 0,
    mirror: str = "none",
    window_px: tuple[float, float, float, float] | None = None,
    offset_deg: tuple[float, float] = (0.0, 0.0),
    pose: Pose | None = None,
) -> Anchors:
    """One anchor per zone, at the centre of the rectangle that the zone sees, with its extent.

    Either `camera` and `fov_deg` place the zones in the image, or they cover `window_px` of it evenly, by default all.
    The sensor is taken for a pinhole camera: equal steps in the tangent of the angle. Its distances are taken as z:
    these sensors convert from the ray's length themselves ("radial to perpendicular ... is done on the chip", ST staff
    on community.st.com, for the VL53L5CX).

    Args:
        z: (R, C), or (R · C,) of a square frame, or a file (`anchors._zone_files.read_zones`).
        image_size: (width, height) of the image; needed without a camera.
        camera: of the image.
        fov_deg: (horizontal, vertical) of the sensor as mounted, in degrees: 45, 45 for the VL53L5CX. Needs `camera`.
        scale: stored units per metre, 1000 or "mm" for millimetres; None: metres, or what the file states.
        status: target status of each zone, of `z`'s shape: see `STATUS_CONFIDENCE` and `STATUS_FLAGS`. An unknown code
            n becomes the flag `sensor_status_n`.
        sigma: standard deviation of each, of `z`'s shape and unit.
        columns_first: a flat frame runs down columns rather than along rows.
        rotation_deg: 0, 90, 180 or 270, by which the frame is turned counter-clockwise to be upright in the image. The
            lens of a VL53L5CX turns its picture over: depending on the driver and how it is mounted, 180.
        mirror: `none`, `horizontal` (left and right swapped) or `vertical`; after the rotation.
        window_px: (left, top, width, height) of the part of the image that the frame covers, pixel edges: the whole
            image is (-0.5, -0.5, W, H). Without `camera` and `fov_deg`.
        offset_deg: (right, down) by which the sensor looks past the camera's axis, beside `pose`.
        pose: camera from sensor; None: the same place. The shift that it makes depends on each zone's reading.

    Raises:
        ContractError: shapes or options that do not fit, or a file that cannot be read.
    """
    frame = _frame(z, scale, status, sigma).turned(columns_first, rotation_deg, mirror)
    if fov_deg is not None:
        low, high, z_m = _seen(frame.z_m, fov_deg, camera, _pose(offset_deg, pose))
    elif pose is not None or any(offset_deg):
        raise ContractError("zones: pose or offset_deg arrived without fov_deg; fov_deg and camera are needed")
    else:
        low, high = _even(frame.z_m.shape, _size(image_size, camera), window_px)
        z_m = frame.z_m.ravel()
    confidence, flag = (None, None) if frame.status is None else by_status(frame.status.ravel())
    sigma_m = None if frame.sigma_m is None else frame.sigma_m.ravel()
    return Anchors(0.5 * (low + high), z_m, sigma_m, extent_px=high - low, confidence=confidence, flag=flag)


def by_status(status: FloatArray) -> tuple[FloatArray, TextArray]:
    """(K,) confidence and (K,) flags of (K,) status codes of a VL53L5CX, VL53L7CX or VL53L8CX."""
    codes = [int(code) if math.isfinite(code) else -1 for code in status]
    confidence = [STATUS_CONFIDENCE.get(code, 0.0) for code in codes]
    flags = [UNFLAGGED if c in STATUS_CONFIDENCE else STATUS_FLAGS.get(c, f"sensor_status_{c}") for c in codes]
    return np.array(confidence), np.array(flags, dtype=np.str_)


def _frame(
    z: ArrayLike | Path | str, scale: float | str | None, status: ArrayLike | None, sigma: ArrayLike | None
) -> ZoneFrame:
    """The frame in metres, every part (R, C)."""
    if isinstance(z, Path | str):
        if sigma is not None:
            raise ContractError(f"zones: sigma arrived with the file {z}; it is needed in the file, as range_sigma_mm")
        stored = read_zones(Path(z), scale)
        status = stored.status if status is None else status
        return ZoneFrame(stored.z_m, *(_like(v, n, stored.z_m) for v, n in ((status, "status"), (stored.sigma_m, ""))))
    stored_per_m = 1.0 if scale is None else per_metre(scale, "zones", PER_METRE)
    grid = as_grid(as_numbers(z, "zones.z"), "zones.z") / stored_per_m
    deviation = _like(sigma, "sigma", grid)
    return ZoneFrame(grid, _like(status, "status", grid), None if deviation is None else deviation / stored_per_m)


def _like(values: ArrayLike | None, name: str, grid: FloatArray) -> FloatArray | None:
    if values is None:
        return None
    numbers = as_numbers(values, f"zones.{name}")
    if numbers.size != grid.size or numbers.ndim not in (1, 2) or (numbers.ndim == 2 and numbers.shape != grid.shape):
        raise ContractError(f"zones.{name}: shape {numbers.shape} arrived, that of z, {grid.shape}, is needed")
    return numbers.reshape(grid.shape)


def _size(image_size: tuple[int, int] | None, camera: Camera | None) -> tuple[int, int]:
    if image_size is None and camera is None:
        raise ContractError("zones: neither image_size nor camera arrived; one is needed to place zones in the image")
    return image_size or (camera.width, camera.height)  # type: ignore[union-attr]


def _even(
    shape: tuple[int, ...], size: tuple[int, int], window_px: tuple[float, float, float, float] | None
) -> tuple[FloatArray, FloatArray]:
    """(K, 2), (K, 2) upper left and lower right of zones that share a window evenly."""
    left, top, width, height = window_px or (-0.5, -0.5, float(size[0]), float(size[1]))
    if not (width > 0.0 and height > 0.0):
        raise ContractError(f"zones: window_px {window_px} arrived; (left, top, width > 0, height > 0) is needed")
    row, column = (index.ravel() for index in np.indices(shape))
    step = np.array([width / shape[1], height / shape[0]])
    low = np.stack([column, row], axis=1) * step + (left, top)
    return low, low + step


def _pose(offset_deg: tuple[float, float], pose: Pose | None) -> Pose:
    """Camera from sensor, the sensor turned right and down by angles in its own frame."""
    right, down = np.radians(offset_deg)
    turn = np.eye(4)
    yaw = np.array([[np.cos(right), 0, np.sin(right)], [0, 1, 0], [-np.sin(right), 0, np.cos(right)]])
    pitch = np.array([[1, 0, 0], [0, np.cos(down), np.sin(down)], [0, -np.sin(down), np.cos(down)]])
    turn[:3, :3] = yaw @ pitch
    return Pose(turn) if pose is None else pose @ Pose(turn)


def _seen(
    z_m: FloatArray, fov_deg: tuple[float, float], camera: Camera | None, pose: Pose
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Upper left and lower right (K, 2) of what each zone sees in the camera's image, and (K,) depth there."""
    if camera is None:
        raise ContractError(
            "zones: fov_deg arrived without camera; its angles need one, or give window_px in its place"
        )
    if not all(0.0 < angle < 170.0 for angle in fov_deg):
        raise ContractError(f"zones: fov_deg {fov_deg} arrived; (horizontal, vertical) of 0 to 170 degrees are needed")
    usable = np.isfinite(z_m) & (z_m > 0.0)
    # A zone without a reading has a place too: where it would be at the depth of the others.
    z = np.where(usable, z_m, np.median(z_m[usable]) if usable.any() else 1.0).ravel()
    half = np.tan(np.radians(fov_deg) / 2.0)
    corner_low, corner_high = _even(z_m.shape, (2, 2), (-half[0], -half[1], 2.0 * half[0], 2.0 * half[1]))
    corners = []
    for u in (corner_low[:, 0], corner_high[:, 0]):
        for v in (corner_low[:, 1], corner_high[:, 1]):
            corners.append(camera.project(pose.apply(np.stack([u * z, v * z, z], axis=1))))
    centre = 0.5 * (corner_low + corner_high)
    along = pose.apply(np.column_stack([centre * z[:, None], z]))[:, 2]
    along = np.where(usable.ravel(), along, z_m.ravel())
    return np.min(corners, axis=0), np.max(corners, axis=0), along

"""Anchors from a 2-D laser scan: ranges over angles in the scanner's plane, x forward, y left (ROS LaserScan)."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from mrac.anchors._projection import projected
from mrac.anchors.readings import UNFLAGGED, Anchors
from mrac.camera import Camera, Pose
from mrac.clouds.text import read_table
from mrac.conventions import FloatArray, TextArray, frozen_numbers
from mrac.errors import ContractError
from mrac.io.input_file import check_file, read_json
from mrac.units import PER_METRE

TOO_NEAR: Final = "too_near"  # flags, by REP 117
NO_RETURN: Final = "no_return"
INVALID_RANGE: Final = "invalid_range"
_INFINITY_M: Final = 1e9  # a point so far away shows the direction alone: no offset of a scanner moves it by a pixel


@dataclass(frozen=True, eq=False)
class LaserScan:
    """One sweep of a 2-D scanner.

    Attributes:
        angles_rad: (N,) from x (forward), counter-clockwise to y (left).
        ranges_m: (N,) as measured, REP 117 infinities included.
        range_min_m: readings under it are none.
        range_max_m: readings over it are none.
    """

    angles_rad: FloatArray
    ranges_m: FloatArray
    range_min_m: float = 0.0
    range_max_m: float = math.inf


def from_laser_scan(  # noqa: PLR0913  (the fields of a ROS LaserScan)
    ranges_m: LaserScan | Path | str | ArrayLike,
    camera: Camera,
    pose: Pose,
    *,
    angle_min: float | None = None,
    angle_increment: float | None = None,
    angles: ArrayLike | None = None,
    range_min: float | None = None,
    range_max: float | None = None,
    sigma_m: float | None = None,
) -> Anchors:
    """Projects a scan into the image; beams behind the camera or outside the image are left out.

    Args:
        ranges_m: (N,) lengths of the beams, or a scan, or its file (`read_scan`), which state their angles.
        camera: of the image.
        pose: camera from laser; the laser's x is forward, y left, z up.
        angle_min: angle of the first beam, in radians from x towards y.
        angle_increment: between beams.
        angles: (N,) in radians, in place of both.
        range_min: shorter readings are flagged; default 0, or what the scan states.
        range_max: longer readings are flagged; default none, or what the scan states.
        sigma_m: standard deviation of every reading, if known.

    Returns:
        K <= N anchors in the order of the beams. Unusable ones are flagged (REP 117): `too_near` for -inf and under
        `range_min`, `no_return` for +inf, over `range_max` and 0 (as RPLIDAR reports it), `invalid_range` for NaN.
        Where such a beam has no length, it is shown at its direction's pixel, and `z_m` is not finite.
    """
    if isinstance(ranges_m, Path | str):
        ranges_m = read_scan(ranges_m)
    if isinstance(ranges_m, LaserScan):
        scan = ranges_m
        if angles is not None or angle_min is not None or angle_increment is not None:
            raise ContractError("from_laser_scan: a scan states its angles; do not give them again")
    else:
        ranges = frozen_numbers(ranges_m, "from_laser_scan: ranges_m", (None,))
        scan = LaserScan(_angles(ranges.size, angle_min, angle_increment, angles), ranges)
    near = scan.range_min_m if range_min is None else range_min
    far = scan.range_max_m if range_max is None else range_max
    if not 0.0 <= near < far:
        raise ContractError(f"from_laser_scan: range_min {near}, range_max {far} arrived; 0 <= range_min < range_max")
    flag = _flags(scan.ranges_m, near, far)
    measured = np.isfinite(scan.ranges_m) & (scan.ranges_m > 0.0)
    direction = np.stack([np.cos(scan.angles_rad), np.sin(scan.angles_rad), np.zeros(flag.size)], axis=1)
    at = np.where(measured, scan.ranges_m, _INFINITY_M)
    uv, z, inside = projected(direction * at[:, None], camera, pose)
    uv, z = uv[inside], np.where(measured, z, scan.ranges_m)[inside]
    return Anchors(uv, z, None if sigma_m is None else np.full(z.size, sigma_m), flag=flag[inside])


def _flags(ranges_m: FloatArray, near: float, far: float) -> TextArray:
    flag = np.full(ranges_m.size, UNFLAGGED, f"<U{len(INVALID_RANGE)}")
    flag[ranges_m > far] = NO_RETURN
    flag[ranges_m < near] = TOO_NEAR
    flag[(ranges_m == 0.0) | (ranges_m == np.inf)] = NO_RETURN
    flag[np.isnan(ranges_m)] = INVALID_RANGE
    return flag


def _angles(num: int, first: float | None, step: float | None, angles: ArrayLike | None) -> FloatArray:
    if angles is not None and first is None and step is None:
        return frozen_numbers(angles, "from_laser_scan: angles", (num,))
    if angles is None and first is not None and step is not None:
        return first + step * np.arange(num)
    raise ContractError("from_laser_scan: angle_min and angle_increment are needed, or angles, in radians")


def read_scan(path: Path | str) -> LaserScan:
    """Reads a scan from a file.

    Args:
        path: .json with `ranges` and either `angle_min` and `angle_increment`, or `angles`, in radians (`angles_deg` in
            degrees), and optionally `range_min` and `range_max`, as a ROS LaserScan; null is NaN. Or a table (.csv,
            .txt) with the columns angle and range; radians and metres, unless its header says `angle_deg`, `range_mm`.

    Raises:
        ContractError: the file is missing or broken, or lacks one of these.
    """
    path = Path(path)
    check_file(path, "laser_scan")
    try:
        return _from_json(path) if path.suffix.lower() == ".json" else _from_table(path)
    except (OSError, UnicodeError) as error:
        raise ContractError(f"laser_scan: {path} cannot be read: {error}") from None


def _from_json(path: Path) -> LaserScan:
    try:
        content = read_json(path, "laser_scan")
        ranges = frozen_numbers(_numbers(content["ranges"]), f"laser_scan: {path}: ranges", (None,))
        near, far = float(content.get("range_min", 0.0)), float(content.get("range_max", math.inf))
        if "angles" in content or "angles_deg" in content:
            degrees = "angles" not in content
            angles = _numbers(content["angles_deg" if degrees else "angles"])
            turned = frozen_numbers(angles, f"laser_scan: {path}: angles", (ranges.size,))
            return LaserScan(np.deg2rad(turned) if degrees else turned, ranges, near, far)
        first, step = float(content["angle_min"]), float(content["angle_increment"])
    except ContractError:
        raise
    except KeyError as error:
        raise ContractError(f"laser_scan: {path} has no {error}; ranges, angle_min, angle_increment needed") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ContractError(f"laser_scan: {path} is no scan in JSON ({error})") from None
    return LaserScan(first + step * np.arange(ranges.size), ranges, near, far)


def _numbers(values: list[Any]) -> list[Any]:
    return [math.nan if value is None else value for value in values]


def _from_table(path: Path) -> LaserScan:
    names, table = read_table(path)
    columns = [name.partition(" ") for name in names] if names else [("angle", "", ""), ("range", "", "")]
    units = {word.rstrip("s"): (i, unit) for i, (word, _, unit) in enumerate(columns)}
    place = units.get("range") or units.get("distance")
    if "angle" not in units or place is None or table.shape[1] < 2:
        raise ContractError(f"laser_scan: {path} has the columns {names or table.shape[1]}; angle and range are needed")
    angles = table[:, units["angle"][0]]
    if units["angle"][1] in ("deg", "degrees", "°"):
        angles = np.deg2rad(angles)
    return LaserScan(angles, table[:, place[0]] / PER_METRE.get(place[1], 1.0))

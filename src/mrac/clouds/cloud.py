"""A point cloud, as every reader of this package gives it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrac.conventions import FloatArray, ImageArray, as_numbers, frozen_numbers
from mrac.errors import ContractError

_INTENSITY: Final = ("intensity", "scalar_intensity", "reflectance", "reflectivity", "remission", "i")
_COLOURS: Final = (("red", "green", "blue"), ("r", "g", "b"), ("diffuse_red", "diffuse_green", "diffuse_blue"))


@dataclass(frozen=True, eq=False, init=False)
class PointCloud:
    """N points in the frame of the sensor or the map that they come from.

    Attributes:
        xyz_m: (N, 3) metres. A point that was not measured, as in an organised cloud, is NaN.
        rgb: (N, 3) uint8, or None.
        intensity: (N,) in the sensor's unit, or None.
    """

    xyz_m: FloatArray
    rgb: ImageArray | None
    intensity: FloatArray | None

    def __init__(self, xyz_m: ArrayLike, rgb: ArrayLike | None = None, intensity: ArrayLike | None = None) -> None:
        xyz = frozen_numbers(xyz_m, "PointCloud.xyz_m", (None, 3))
        object.__setattr__(self, "xyz_m", xyz)
        object.__setattr__(self, "rgb", None if rgb is None else _colours(rgb, len(xyz)))
        strength = None if intensity is None else frozen_numbers(intensity, "PointCloud.intensity", (len(xyz),))
        object.__setattr__(self, "intensity", strength)

    def __len__(self) -> int:
        return len(self.xyz_m)


def from_fields(fields: Mapping[str, NDArray[Any]], path: Path) -> PointCloud:
    """A cloud from named columns, of which x, y and z are needed; colour and intensity go by their usual names.

    Raises:
        ContractError: x, y or z is missing.
    """
    columns = {name.lower(): values for name, values in fields.items()}
    missing = [name for name in "xyz" if name not in columns]
    if missing:
        given = ", ".join(fields) or "none"
        raise ContractError(f"clouds: {path} has no field {missing[0]!r}; x, y, z are needed, it has {given}")
    names = next((names for names in _COLOURS if all(name in columns for name in names)), None)
    strength = next((columns[name] for name in _INTENSITY if name in columns), None)
    with np.errstate(invalid="ignore"):  # damaged floats may be signalling NaN
        return PointCloud(
            np.stack([as_numbers(columns[name], f"clouds: {path}: {name}") for name in "xyz"], axis=1),
            None if names is None else _eight_bits(np.stack([columns[name] for name in names], axis=1)),
            strength,
        )


def from_columns(table: NDArray[Any], path: Path) -> PointCloud:
    """A cloud from (N, 3+) columns without names: x, y, z; of exactly four, the last is intensity, as in KITTI's files.

    Raises:
        ContractError: fewer than three columns.
    """
    if table.ndim != 2 or table.shape[1] < 3:
        raise ContractError(f"clouds: {path} holds an array of shape {table.shape}; (N, 3) or wider is needed: x, y, z")
    numbers = as_numbers(table, f"clouds: {path}")
    return PointCloud(numbers[:, :3], intensity=numbers[:, 3] if numbers.shape[1] == 4 else None)


def _eight_bits(colours: NDArray[Any]) -> ImageArray:
    """(N, 3) colours of 8 or 16 bits, or in [0, 1], as uint8."""
    if colours.dtype.kind == "f" and np.nanmax(colours, initial=0.0) <= 1.0:
        colours = colours * 255.0
    elif colours.dtype.kind != "f" and colours.max(initial=0) > 255:
        colours = colours.astype(np.int64) >> 8
    return np.clip(np.rint(np.nan_to_num(colours.astype(np.float64))), 0, 255).astype(np.uint8)


def _colours(rgb: ArrayLike, num: int) -> ImageArray:
    colours = np.array(rgb)
    if colours.shape != (num, 3) or colours.dtype != np.uint8:
        raise ContractError(
            f"PointCloud.rgb: ({num}, 3) uint8 are needed, {colours.dtype} of shape {colours.shape} arrived"
        )
    colours.setflags(write=False)
    return colours

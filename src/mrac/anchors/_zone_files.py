"""Files with one frame of a multizone sensor: a grid of numbers, a table with one zone per row, or JSON."""

import math
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from mrac.conventions import FloatArray, as_numbers
from mrac.errors import ContractError
from mrac.io.input_file import read_json, read_text
from mrac.units import PER_METRE, per_metre

_DEPTHS: Final = {"distance_mm": 1000.0, "z_mm": 1000.0, "distance_m": 1.0, "z_m": 1.0, "depth_m": 1.0}
_UNSCALED: Final = ("distance", "z", "depth", "range")  # the unit must be given
_SIGMAS: Final = {"range_sigma_mm": 1000.0, "sigma_mm": 1000.0, "sigma_m": 1.0}
_STATUSES: Final = ("target_status", "status")
_MIRRORS: Final = ("none", "horizontal", "vertical")


class ZoneFrame(NamedTuple):
    """One frame.

    Attributes:
        z_m: (R, C) metres.
        status: (R, C) codes, or None.
        sigma_m: (R, C) metres, or None.
    """

    z_m: FloatArray
    status: FloatArray | None
    sigma_m: FloatArray | None

    def turned(self, columns_first: bool, rotation_deg: int, mirror: str) -> "ZoneFrame":
        """Upright in the image; see `mrac.anchors.zones.from_zones`."""
        if rotation_deg not in (0, 90, 180, 270) or mirror not in _MIRRORS:
            raise ContractError(
                f"zones: rotation_deg {rotation_deg}, mirror {mirror!r} arrived; 0, 90, 180 or 270 and one of "
                f"{', '.join(_MIRRORS)} are needed"
            )

        def upright(values: FloatArray) -> FloatArray:
            grid = values.reshape(values.shape[::-1]).T if columns_first else values
            grid = np.rot90(grid, rotation_deg // 90)
            return grid[:, ::-1] if mirror == "horizontal" else grid[::-1] if mirror == "vertical" else grid

        return ZoneFrame(*(None if values is None else upright(values) for values in self))  # type: ignore[arg-type]


def read_zones(path: Path, scale: float | str | None = None) -> ZoneFrame:
    """Reads `.json`, or any other suffix as text.

    JSON: an object with `distance_mm` or `z_m` (also `distance_m`, `z_mm`), and perhaps `target_status` or `status`,
    `range_sigma_mm` or `sigma_m`; lists of R · C numbers or of R rows. Text: R rows of C numbers, separated by commas,
    semicolons or blanks (beside semicolons and tabs a comma is a decimal comma); or a table whose header names such
    columns, one zone per row, in order. Lines that start with # are ignored.

    Args:
        path: of the file.
        scale: stored units per metre, "m" or "mm", where the names do not say.

    Raises:
        ContractError: the file cannot be read, or its unit is not known.
    """
    if path.suffix.lower() == ".json":
        columns = read_json(path, "zones")
        if not isinstance(columns, dict):
            columns = {"z": columns}
    else:
        columns = _table(read_text(path, "zones"), path)
    return _frame({str(name).strip().lower(): values for name, values in columns.items()}, scale, path)


def as_grid(values: FloatArray, name: str) -> FloatArray:
    """(R, C) of itself, or of R · C numbers of a square frame."""
    side = math.isqrt(values.size)
    if values.ndim == 1 and side * side == values.size and side:
        return values.reshape(side, side)
    if values.ndim != 2 or not values.size:
        raise ContractError(f"{name}: shape {values.shape} arrived; (R, C), or 16 or 64 numbers, are needed")
    return values


def _frame(columns: dict[str, Any], scale: float | str | None, path: Path) -> ZoneFrame:
    unit = None if scale is None else per_metre(scale, "zones", PER_METRE)
    name = next((n for n in (*_DEPTHS, *_UNSCALED) if n in columns), None)
    if name is None:
        raise ContractError(f"zones: {path} has {', '.join(columns) or 'nothing'}; distance_mm or z_m is needed")
    stored = _DEPTHS.get(name, unit)
    if stored is None:
        raise ContractError(f'zones: {path} does not state its unit; give it: scale="mm" or "m" (--anchors-scale)')
    z_m = as_grid(as_numbers(columns[name], f"zones: {path}: {name}"), f"zones: {path}: {name}") / stored

    def like(names: tuple[str, ...]) -> tuple[str, FloatArray] | None:
        found = next((n for n in names if n in columns), None)
        if found is None:
            return None
        values = as_numbers(columns[found], f"zones: {path}: {found}")
        if values.size != z_m.size:
            raise ContractError(f"zones: {path}: {values.size} of {found} for {z_m.size} zones; as many are needed")
        return found, values.reshape(z_m.shape)

    status, sigma = like(_STATUSES), like(tuple(_SIGMAS))
    return ZoneFrame(
        z_m, None if status is None else status[1], None if sigma is None else sigma[1] / _SIGMAS[sigma[0]]
    )


def _table(text: str, path: Path) -> dict[str, list[Any]]:
    """The columns of a table by name; a grid without a header is all `z`."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    decimal_comma = any(";" in line or "\t" in line for line in lines)
    separator = re.compile(r"[;\s]+" if decimal_comma else r"[,\s]+")
    rows = [[cell.replace(",", ".") for cell in separator.split(line) if cell] for line in lines]
    if not rows:
        raise ContractError(f"zones: {path} is empty; a grid of numbers is needed")
    header: list[str] = []
    if any(cell[0].isalpha() and cell.lower() not in ("nan", "inf") for cell in rows[0]):
        header, rows = rows[0], rows[1:]
    try:
        numbers = [[float(cell) for cell in row] for row in rows]
    except ValueError as error:
        raise ContractError(f"zones: {path}: {error}; numbers are needed, nan where there is no reading") from None
    if len({len(row) for row in numbers} | ({len(header)} if header else set())) != 1:
        raise ContractError(f"zones: {path}: rows of different length; as many numbers in each are needed")
    if not header:
        return {"z": numbers}
    return {name: list(column) for name, column in zip(header, np.transpose(numbers).tolist(), strict=True)}

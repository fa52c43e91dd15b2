"""Anchors from a text table with a header: columns u, v and z, optionally sigma, under common names."""

import csv
import math
from pathlib import Path
from typing import Final

from mrac.anchors._stored import Stored
from mrac.anchors.readings import Anchors
from mrac.errors import ContractError
from mrac.io.files import write_whole

_ALIASES: Final = {
    "u": ("u", "x", "col", "column", "px", "u_px", "x_px", "pixel_x"),
    "v": ("v", "y", "row", "line", "py", "v_px", "y_px", "pixel_y"),
    "z": ("z", "depth", "z_m", "depth_m", "metres", "meters", "distance_m"),
    "sigma": ("sigma", "sigma_m", "std", "std_m"),
}
_EMPTY: Final = ("", "nan", "na", "none", "null")


def read(path: Path) -> Stored:
    """Reads a table separated by commas, semicolons, tabs or blanks; empty cells are missing readings (NaN).

    Raises:
        ContractError: no header, a column missing or named twice, a cell that is not a number, or a short row.
    """
    text = path.read_text(encoding="utf-8-sig")
    lines = [(n, line) for n, line in enumerate(text.splitlines(), start=1) if line.strip() and line[0] != "#"]
    if not lines:
        raise ContractError(f"anchors/csv: {path} is empty; a header u,v,z and one row per anchor are needed")
    header = lines[0][1]
    delimiter = next((d for d in ",;\t" if d in header), " ")
    try:
        rows = [next(csv.reader([line], delimiter=delimiter, skipinitialspace=True)) for _, line in lines]
    except csv.Error as error:
        raise ContractError(f"anchors/csv: {path} is not a table of numbers: {error}") from None
    columns = _columns(rows[0], path)
    table: dict[str, list[float]] = {name: [] for name in columns}
    for (number, _), row in zip(lines[1:], rows[1:], strict=True):
        for name, index in columns.items():
            table[name].append(_cell(row, index, name, f"anchors/csv: {path} line {number}"))
    return Stored(list(zip(table["u"], table["v"], strict=True)), table["z"], table.get("sigma"))


def write(path: Path, anchors: Anchors) -> None:
    """Writes a table with the columns u, v, z_m and, where known, sigma_m; `read` returns the same numbers exactly."""
    columns = {"u": anchors.uv_px[:, 0], "v": anchors.uv_px[:, 1], "z_m": anchors.z_m}
    if anchors.sigma_m is not None:
        columns["sigma_m"] = anchors.sigma_m
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in rows)]
    write_whole(path, lambda file: file.write(("\n".join(lines) + "\n").encode()))


def _columns(header: list[str], path: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for index, cell in enumerate(header):
        for name, aliases in _ALIASES.items():
            if cell.strip().lower() in aliases:
                if name in found:
                    raise ContractError(f"anchors/csv: {path} has two columns for {name}: {header}")
                found[name] = index
    missing = [name for name in ("u", "v", "z") if name not in found]
    if missing:
        raise ContractError(
            f"anchors/csv: {path} has no column {missing[0]!r} in its first line {header}; "
            f"one of {', '.join(_ALIASES[missing[0]])} is needed"
        )
    return found


def _cell(row: list[str], index: int, name: str, where: str) -> float:
    if index >= len(row):
        raise ContractError(f"{where} has {len(row)} cells; column {index + 1} ({name}) is needed")
    cell = row[index].strip()
    if cell.lower() in _EMPTY:
        return math.nan
    try:
        return float(cell)
    except ValueError:
        raise ContractError(f"{where} has {name} = {cell!r}; a number is needed, or an empty cell") from None

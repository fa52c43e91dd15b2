"""Anchors from a text table with a header: columns u, v and z, under common names, with units where stated.

A unit stands in brackets or after an underscore: `z_mm`, `Z [mm]`, `depth (cm)`, `sigma_mm`, `u [px]`. Depth without a
unit is in metres. `z`, `depth` and `distance` are taken along the optical axis; `range` is the length of the ray, which
needs a camera to become depth. Numbers may have decimal commas where columns are separated by something else.
"""

import csv
import math
import re
from pathlib import Path
from typing import Final, NamedTuple

from mrac.anchors._stored import Stored
from mrac.anchors.readings import UNFLAGGED, Anchors
from mrac.errors import ContractError
from mrac.io.files import write_whole
from mrac.io.input_file import read_text
from mrac.units import PER_METRE

_ALIASES: Final = {
    "u": ("u", "x", "col", "column", "px", "pixel_x"),
    "v": ("v", "y", "row", "line", "py", "pixel_y"),
    "z": ("z", "depth", "distance", "metres", "meters"),
    "range": ("range", "ray", "ray_length"),
    "sigma": ("sigma", "std", "noise"),
    "confidence": ("confidence", "weight"),
    "flag": ("flag", "status"),
}
_UNITS: Final = {  # that a column may state, and how many of each are one of ours; "" is without
    **{name: {"": 1.0, "px": 1.0, "pixel": 1.0, "pixels": 1.0} for name in ("u", "v")},
    **{name: {"": 1.0, **PER_METRE} for name in ("z", "range", "sigma")},
    "confidence": {"": 1.0, "%": 100.0},
    "flag": {"": 1.0},
}
_BRACKETED: Final = re.compile(r"(.*?)\s*[\[(]\s*([^\])]*?)\s*[\])]")
_EMPTY: Final = ("", "nan", "na", "none", "null")
_NO_FLAG: Final = (*_EMPTY, "0", "ok", "valid")


class _Column(NamedTuple):
    place: int
    per_unit: float
    stated: bool


def read(path: Path) -> Stored:
    """Reads a table separated by commas, semicolons, tabs or blanks; empty cells are missing readings (NaN).

    Raises:
        ContractError: no header, a column missing or named twice, a cell that is not a number, a short row, or a
            confidence over 1.
    """
    numbers, rows, delimiter = _rows(path)
    columns = _columns(rows[0], path)
    flags = columns.pop("flag", None)
    table: dict[str, list[float]] = {name: [] for name in columns}
    words = []
    for number, row in zip(numbers[1:], rows[1:], strict=True):
        where = f"anchors/csv: {path} line {number}"
        if any(cell.strip() for cell in row[len(rows[0]) :]):  # as of decimal commas: the first columns would be wrong
            raise ContractError(
                f"{where} has {len(row)} cells, the header {len(rows[0])}; as many are needed, and with decimal commas "
                "semicolons between them"
            )
        for name, column in columns.items():
            table[name].append(_number(_cell(row, column.place, name, where), name, where, delimiter != ","))
        words.append("" if flags is None else _flag(_cell(row, flags.place, "flag", where)))
    return _stored(columns, table, None if flags is None else words, path)


def frame_column(path: Path) -> list[str] | None:
    """The cells of the column `frame` of a table of many frames, one for each reading of `read`; None without one.

    Raises:
        ContractError: the table is empty or broken, or a row ends before that column.
    """
    numbers, rows, _ = _rows(path)
    place = next((i for i, cell in enumerate(rows[0]) if cell.strip().lower() == "frame"), None)
    if place is None:
        return None
    where = [f"anchors/csv: {path} line {number}" for number in numbers[1:]]
    return [_cell(row, place, "frame", name) for row, name in zip(rows[1:], where, strict=True)]


def write(path: Path, anchors: Anchors) -> None:
    """Writes a table with the columns u, v, z_m and, where known, sigma_m, confidence and flag.

    `read` returns the same numbers exactly.
    """
    columns = {"u": anchors.uv_px[:, 0], "v": anchors.uv_px[:, 1], "z_m": anchors.z_m}
    for name, values in (("sigma_m", anchors.sigma_m), ("confidence", anchors.confidence)):
        if values is not None:
            columns[name] = values
    rows = [list(map(repr, row)) for row in zip(*(column.tolist() for column in columns.values()), strict=True)]
    if anchors.flag is not None:
        rows = [[*row, word] for row, word in zip(rows, anchors.flag.tolist(), strict=True)]
    header = [*columns, *([] if anchors.flag is None else ["flag"])]
    lines = [",".join(row) for row in (header, *rows)]
    write_whole(path, lambda file: file.write(("\n".join(lines) + "\n").encode()))


def _rows(path: Path) -> tuple[list[int], list[list[str]], str]:
    """The numbers of the lines that hold something, their cells, and what separates these."""
    lines = [
        (n, line) for n, line in enumerate(read_text(path).splitlines(), start=1) if line.strip() and line[0] != "#"
    ]
    if not lines:
        raise ContractError(f"anchors/csv: {path} is empty; a header u,v,z and one row per anchor are needed")
    delimiter = next((d for d in ";\t," if d in lines[0][1]), " ")
    if delimiter == " ":  # a unit in brackets belongs to its column
        lines[0] = (lines[0][0], re.sub(r"\s+(?=[\[(])", "", lines[0][1]))
    try:
        rows = [next(csv.reader([line], delimiter=delimiter, skipinitialspace=True)) for _, line in lines]
    except csv.Error as error:
        raise ContractError(f"anchors/csv: {path} is not a table of numbers: {error}") from None
    return [number for number, _ in lines], rows, delimiter


def _stored(columns: dict[str, _Column], table: dict[str, list[float]], flags: list[str] | None, path: Path) -> Stored:
    depth = "z" if "z" in columns else "range"
    per_metre = columns[depth].per_unit
    sigma = table.get("sigma")
    if sigma is not None and columns["sigma"].stated:  # else it is in the unit of the depth
        factor = per_metre / columns["sigma"].per_unit
        sigma = [s * factor for s in sigma]
    confidence = table.get("confidence")
    if confidence is not None:
        confidence = [c / columns["confidence"].per_unit for c in confidence]
        if any(c > 1.0 for c in confidence):
            raise ContractError(
                f"anchors/csv: {path} has a confidence of {max(confidence):g}; 0 to 1 is needed, or percent under the "
                "header `confidence [%]`"
            )
    return Stored(
        list(zip(table["u"], table["v"], strict=True)),
        table[depth],
        sigma,
        per_metre,
        confidence=confidence,
        flag=flags,
        is_range=depth == "range",
        states_unit=columns[depth].stated,
    )


def _columns(header: list[str], path: Path) -> dict[str, _Column]:
    found: dict[str, _Column] = {}
    for index, cell in enumerate(header):
        meaning = _meaning(cell)
        if meaning is None:
            continue
        name, unit = meaning
        if name in found:
            raise ContractError(f"anchors/csv: {path} has two columns for {name}: {header}")
        found[name] = _Column(index, _UNITS[name][unit], unit != "")
    if "z" in found:
        found.pop("range", None)
    missing = [name for name in ("u", "v", "z") if name not in found and not (name == "z" and "range" in found)]
    if missing:
        names = [*_ALIASES[missing[0]], *(["z_m", "depth_m", "z_mm", "distance_m"] if missing[0] == "z" else [])]
        raise ContractError(
            f"anchors/csv: {path} has no column {missing[0]!r} in its first line {header}; "
            f"one of {', '.join(names)} is needed"
        )
    return found


def _meaning(cell: str) -> tuple[str, str] | None:
    """What a cell of the header names, and its unit ("" without); None for a column that is not read."""
    text = cell.strip().lower()
    bracketed = _BRACKETED.fullmatch(text)
    head, _, tail = text.rpartition("_")
    for name, unit in ((text, ""), bracketed.groups() if bracketed else ("", ""), (head, tail)):
        for meaning, aliases in _ALIASES.items():
            if name in aliases and unit in _UNITS[meaning]:
                return meaning, unit
    return None


def _cell(row: list[str], index: int, name: str, where: str) -> str:
    if index >= len(row):
        raise ContractError(f"{where} has {len(row)} cells; column {index + 1} ({name}) is needed")
    return row[index].strip()


def _number(cell: str, name: str, where: str, decimal_comma: bool) -> float:
    if cell.lower() in _EMPTY:
        return math.nan
    plain = cell.replace(",", ".") if decimal_comma and cell.count(",") == 1 and "." not in cell else cell
    try:
        return float(plain)
    except ValueError:
        raise ContractError(f"{where} has {name} = {cell!r}; a number is needed, or an empty cell") from None


def _flag(cell: str) -> str:
    """One word; a sensor's status number, of which 0 is no fault, as `sensor_status_4`."""
    cell = cell[:-2] if cell.endswith(".0") and cell[:-2].isdigit() else cell  # as tables of floats hold it
    if cell.lower() in _NO_FLAG:
        return UNFLAGGED
    return f"sensor_status_{cell}" if cell.isdigit() else "_".join(cell.split())

"""Point clouds in text tables: x, y, z in the first columns, or under a header that names them."""

import io
import re
from pathlib import Path

import numpy as np

from mrac.clouds.cloud import PointCloud, from_columns, from_fields
from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.io.input_file import read_text
from mrac.units import PER_METRE


def read(path: Path) -> PointCloud:
    """Reads a table of points; without a header the columns are x, y, z, and of exactly four the last is intensity.

    Raises:
        ContractError: as `read_table`.
    """
    names, table = read_table(path)
    if names is None:
        return from_columns(table, path)
    fields = {}
    for name, column in zip(names, table.T, strict=True):
        word, _, unit = name.partition(" ")
        fields[word] = column / PER_METRE.get(unit, 1.0) if word in ("x", "y", "z") else column
    return from_fields(fields, path)


def read_table(path: Path) -> tuple[list[str] | None, FloatArray]:
    """Reads numbers separated by commas, semicolons, tabs or blanks, with or without a header; `#` starts a comment.

    Where semicolons or tabs separate, a comma is a decimal comma.

    Returns:
        The header in small letters, units behind a blank (`X [mm]`, `x_mm` and `x(mm)` are `x mm`), None without one;
        and the (N, columns) numbers.

    Raises:
        ContractError: no rows, rows of different lengths, a cell that is not a number, or a header of another length.
    """
    lines = [line for line in read_text(path).splitlines() if line.strip()]
    names: list[str] | None = None
    while lines and not _is_number(_cells(lines[0])[0]):
        # CloudCompare writes its header as `//X Y Z`, others as a comment; the last line before the numbers counts.
        names = [_name(cell) for cell in _cells(lines.pop(0).lstrip(" #/"))]
    if not lines:
        raise ContractError(f"clouds/text: {path} has no row of numbers; one point per line is needed")
    separator = _separator(lines[0])
    text = "\n".join(lines)
    if separator in (";", "\t"):
        text = text.replace(",", ".")
    try:
        table = np.loadtxt(io.StringIO(text), delimiter=separator, ndmin=2)
    except ValueError as error:
        raise ContractError(f"clouds/text: {path} is no table of numbers: {error}") from None
    if names is not None and len(names) != table.shape[1]:
        if names and all(name.isidentifier() for name in names) and "x" in names:
            raise ContractError(f"clouds/text: {path} has {len(names)} names over {table.shape[1]} columns of numbers")
        names = None  # a comment, not a header
    return names, table


def _separator(line: str) -> str | None:
    return next((s for s in ";\t," if s in line), None)


def _cells(line: str) -> list[str]:
    separator = _separator(line)
    if separator is None:
        line = re.sub(r"\s+(?=[\[(])", "", line)  # `x [m] y [m]` is two names
    return [cell.strip() for cell in line.split(separator)] or [""]


def _name(cell: str) -> str:
    found = re.fullmatch(r'"?\s*(.*?)(?:\s*[\[(]\s*(\w+)\s*[\])]|_(m|cm|mm|ft|deg|rad))?\s*"?', cell.lower())
    word, bracket, suffix = found.groups() if found else (cell.lower(), None, None)
    return " ".join(part for part in (word, bracket or suffix) if part)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True

"""Point clouds in PLY files (Stanford triangle format): text, and binary of either byte order."""

from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrac.clouds.cloud import PointCloud, from_fields
from mrac.conventions import frozen_numbers
from mrac.errors import ContractError
from mrac.io.files import write_whole

_TYPES: Final = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
_ORDERS: Final = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_HEADER_BYTES: Final = 1 << 16
_MOST_DIGITS: Final = 18  # of a number of elements; Python refuses to read one of 4,301
_FLOAT32_REACH_M: Final = 1000.0  # to which float32 keeps a tenth of a millimetre


class Element(NamedTuple):
    """One element of the header.

    Attributes:
        name: `vertex`, `face`, ...
        num: how many follow.
        fields: name and numpy type of each property, without byte order.
        has_list: one property is a list, so that the size of its rows is not known.
    """

    name: str
    num: int
    fields: list[tuple[str, str]]
    has_list: bool = False


def read(path: Path) -> PointCloud:
    """Reads the vertices; faces and all else are passed over.

    Raises:
        ContractError: not a PLY file, cut short, or without vertices.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        order, elements = _header(file, path)
        index = next((i for i, element in enumerate(elements) if element.name == "vertex"), None)
        if index is None:
            raise ContractError(f"clouds/ply: {path} has no element `vertex`; a point cloud is needed")
        vertex, before = elements[index], elements[:index]
        if vertex.has_list or (order and any(element.has_list for element in before)):
            raise ContractError(
                f"clouds/ply: {path} has a list in or before its vertices; write it with its vertices first"
            )
        left = size - file.tell()
        if order:
            skipped = sum(element.num * _row(element, order).itemsize for element in before)
            row = _row(vertex, order)
            _check_size(path, vertex.num, skipped + vertex.num * row.itemsize, left)
            file.seek(skipped, 1)
            table = np.fromfile(file, row, vertex.num)
            return from_fields({name: table[name] for name, _ in vertex.fields}, path)
        _check_size(path, vertex.num, 2 * vertex.num * len(vertex.fields) - 1, left)  # a digit and a blank each
        return _text(file, path, sum(element.num for element in before), vertex)


def _header(file: IO[bytes], path: Path) -> tuple[str, list[Element]]:
    """The byte order ("" for text) and the elements; `file` stands behind the header afterwards."""
    head = file.read(_HEADER_BYTES)
    body, found, _ = head.partition(b"end_header")
    lines = [line.split() for line in body.decode("ascii", "replace").replace("\r", "\n").split("\n") if line.strip()]
    if not found or lines[:1] != [["ply"]]:
        raise ContractError(f"clouds/ply: {path} has no PLY header (`ply` ... `end_header`)")
    rest = head[len(body) + len(found) :]
    file.seek(len(body) + len(found) + (2 if rest.startswith(b"\r\n") else 1))
    order: str | None = None
    elements: list[Element] = []
    for words in lines[1:]:
        match words:
            case ["format", kind, _]:
                order = _ORDERS.get(kind)
            case ["element", name, num] if num.isdecimal() and len(num) <= _MOST_DIGITS:
                elements.append(Element(name, int(num), []))
            case ["property", "list", _, _, _] if elements:
                elements[-1] = elements[-1]._replace(has_list=True)
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1].fields.append((name, _TYPES[kind]))
            case ["comment" | "obj_info", *_]:
                pass
            case _:
                raise ContractError(
                    f"clouds/ply: {path} has a header line {' '.join(words)[:80]!r} that PLY does not know"
                )
    if order is None:
        raise ContractError(f"clouds/ply: {path} states no format; one of {', '.join(_ORDERS)} is needed")
    return order, elements


def _row(element: Element, order: str) -> np.dtype[Any]:
    names = [name for name, _ in element.fields]
    if len(set(names)) < len(names):
        raise ContractError(f"clouds/ply: element {element.name} has two properties of one name: {', '.join(names)}")
    return np.dtype([(name, order + kind) for name, kind in element.fields])


def _check_size(path: Path, num: int, needed: int, left: int) -> None:
    if needed > left:
        raise ContractError(
            f"clouds/ply: {path} is cut short: {num} vertices need {needed} bytes behind the header, {left} are there"
        )


def _text(file: IO[bytes], path: Path, num_skipped: int, vertex: Element) -> PointCloud:
    lines = file.read().split(b"\n")
    lines = [line for line in lines if line.strip()][num_skipped : num_skipped + vertex.num]
    columns = len(vertex.fields)
    try:
        table = np.array([line.split() for line in lines], np.float64).reshape(vertex.num, columns)
    except ValueError:
        raise ContractError(
            f"clouds/ply: {path} is broken: {vertex.num} rows of {columns} numbers are needed for its vertices"
        ) from None
    with np.errstate(all="ignore"):  # NaN in a column of integers becomes any, and what is too large infinite
        return from_fields({name: table[:, i].astype(kind) for i, (name, kind) in enumerate(vertex.fields)}, path)


def write_ply(path: Path | str, xyz: ArrayLike, rgb: ArrayLike | None = None, **extra: ArrayLike) -> None:
    """Writes a binary PLY; coordinates are float32, beyond 1000 m float64.

    Args:
        path: of the file.
        xyz: (N, 3) metres.
        rgb: (N, 3) uint8 colours.
        extra: further (N,) columns by name, stored as float32: `sigma_m=...`.

    Raises:
        ContractError: shapes do not fit, or colours are not uint8.
    """
    cloud = PointCloud(xyz, rgb)
    near = np.nanmax(np.abs(cloud.xyz_m), initial=0.0) <= _FLOAT32_REACH_M
    columns: list[tuple[str, str, NDArray[Any]]] = [
        (name, "float" if near else "double", cloud.xyz_m[:, i]) for i, name in enumerate("xyz")
    ]
    if cloud.rgb is not None:
        columns += [(name, "uchar", cloud.rgb[:, i]) for i, name in enumerate(("red", "green", "blue"))]
    for name, values in extra.items():
        columns.append((name, "float", frozen_numbers(values, f"write_ply: {name}", (len(cloud),))))
    table = np.empty(len(cloud), np.dtype([(name, "<" + _TYPES[kind]) for name, kind, _ in columns]))
    for name, _, values in columns:
        table[name] = values
    properties = [f"property {kind} {name}" for name, kind, _ in columns]
    lines = ["ply", "format binary_little_endian 1.0", f"element vertex {len(cloud)}", *properties, "end_header", ""]

    def write(file: IO[bytes]) -> None:
        file.write("\n".join(lines).encode())
        file.write(table.tobytes())

    write_whole(Path(path), write)

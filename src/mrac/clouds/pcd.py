"""Point clouds in PCD files (Point Cloud Library): text, binary and compressed, organised or not.

VIEWPOINT is not applied: it is where the sensor stood, and the points are in the sensor's frame.
"""

from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from mrac.clouds.cloud import PointCloud, from_fields
from mrac.errors import ContractError
from mrac.runtime.jit import kernel

_HEADER_LINES: Final = 100
_LZF_RATIO: Final = 88  # three bytes of LZF become 264 at most
_LONGEST_WORD: Final = 64  # characters; numpy makes all words of a table as wide as the longest
_PACKED: Final = ("rgb", "rgba")  # one number of 4 bytes: blue, green, red, alpha


def read(path: Path) -> PointCloud:
    """Reads the points; one that was not measured stays in its place, as NaN.

    Raises:
        ContractError: not a PCD file, or cut short.
    """
    with path.open("rb") as file:
        head = _header(file, path)
        row, num = _row(head, path), _count(head, path)
        left = path.stat().st_size - file.tell()
        kind = head.get("DATA", ["?"])[0]
        if kind == "binary":
            _check_size(path, num, num * row.itemsize, left)
            table = np.fromfile(file, row, num)
            fields = {name: table[name] for name in row.names or ()}
        elif kind == "binary_compressed":
            fields = _compressed(file, path, row, num, left)
        elif kind == "ascii":
            _check_size(path, num, 2 * num * len(row.names or ()) - 1, left)
            fields = _text(file, path, row, num)
        else:
            raise ContractError(f"clouds/pcd: {path} has DATA {kind}; ascii, binary or binary_compressed is needed")
    for name in _PACKED:
        if name in fields and fields[name].ndim == 1 and fields[name].dtype.itemsize == 4:
            packed = np.ascontiguousarray(fields.pop(name)).view(np.uint8).reshape(-1, 4)
            fields |= {"red": packed[:, 2], "green": packed[:, 1], "blue": packed[:, 0]}
    return from_fields({name: values for name, values in fields.items() if values.ndim == 1}, path)


def stated_size(path: Path) -> tuple[int, int]:
    """Number of points and of the bytes that they have once expanded, by the header alone.

    Raises:
        ContractError: not a PCD file.
    """
    with path.open("rb") as file:
        head = _header(file, path)
    num = _count(head, path)
    return num, num * _row(head, path).itemsize


def _header(file: IO[bytes], path: Path) -> dict[str, list[str]]:
    head: dict[str, list[str]] = {}
    for _ in range(_HEADER_LINES):
        words = file.readline(4096).decode("ascii", "replace").split()
        if words and not words[0].startswith("#"):
            head[words[0]] = words[1:]
            if words[0] == "DATA" and words[1:]:
                return head
    raise ContractError(f"clouds/pcd: {path} has no PCD header (`VERSION` ... `DATA`)")


def _row(head: dict[str, list[str]], path: Path) -> np.dtype[Any]:
    """One point, from FIELDS, SIZE, TYPE and COUNT."""
    names = head.get("FIELDS", [])
    try:
        counts = [int(word) for word in head.get("COUNT", ["1"] * len(names))]
        columns = zip(names, head.get("TYPE", []), head.get("SIZE", []), counts, strict=True)
        # Padding fields are all called "_".
        fields = [
            (f"_{i}" if name == "_" else name, f"<{kind.lower()}{size}", *([(num,)] if num != 1 else []))
            for i, (name, kind, size, num) in enumerate(columns)
        ]
        return np.dtype(fields)
    except Exception:  # numpy evaluates parts of such words as Python text, which fails in many ways
        lines = "; ".join(f"{key} {' '.join(head.get(key, []))}" for key in ("FIELDS", "SIZE", "TYPE", "COUNT"))
        raise ContractError(f"clouds/pcd: {path} has fields that do not fit together: {lines[:200]}") from None


def _count(head: dict[str, list[str]], path: Path) -> int:
    """WIDTH × HEIGHT, which POINTS repeats."""
    try:
        width, height = int(head["WIDTH"][0]), int(head.get("HEIGHT", ["1"])[0])
        stated = int(head.get("POINTS", [str(width * height)])[0])
    except (KeyError, ValueError, IndexError):
        width, height, stated = -1, -1, -1
    if min(width, height) < 0 or width * height != stated:
        raise ContractError(f"clouds/pcd: {path}: WIDTH, HEIGHT and POINTS do not say how many points follow")
    return stated


def _check_size(path: Path, num: int, needed: int, left: int) -> None:
    if needed > left:
        raise ContractError(
            f"clouds/pcd: {path} is cut short: {num} points need {needed} bytes behind the header, {left} are there"
        )


def _text(file: IO[bytes], path: Path, row: np.dtype[Any], num: int) -> dict[str, NDArray[Any]]:
    rows = [line.split() for line in file if line.strip()][:num]
    ends = np.cumsum([row[name].shape[0] if row[name].shape else 1 for name in row.names or ()]).tolist()
    broken = ContractError(f"clouds/pcd: {path} is broken: {num} rows of numbers, one per field, are needed")
    if any(len(word) > _LONGEST_WORD for row in rows for word in row):
        raise broken
    try:
        words = np.array(rows, np.str_).reshape(num, ends[-1] if ends else 0)
        columns = np.split(words, ends[:-1], axis=1)
        with np.errstate(all="ignore"):  # what is too large becomes infinite
            return {
                name: values.astype(row[name].base).reshape(num, *row[name].shape)
                for name, values in zip(row.names or (), columns, strict=True)
            }
    except (ValueError, OverflowError):
        raise broken from None


def _compressed(file: IO[bytes], path: Path, row: np.dtype[Any], num: int, left: int) -> dict[str, NDArray[Any]]:
    """Two sizes, then LZF of all values of the first field, all of the second, ..."""
    head = file.read(8)
    packed_size, size = int.from_bytes(head[:4], "little"), int.from_bytes(head[4:], "little")
    if len(head) < 8 or size != num * row.itemsize or packed_size > left - 8 or size > _LZF_RATIO * packed_size:
        raise ContractError(
            f"clouds/pcd: {path} is cut short or broken: {num} points are {num * row.itemsize} bytes, its block states "
            f"{size} from {packed_size} compressed, {left - 8} are there"
        )
    out = np.empty(size, np.uint8)
    if not _decompress(np.frombuffer(file.read(packed_size), np.uint8), out):
        raise ContractError(f"clouds/pcd: {path} is broken: its compressed block does not decompress")
    fields: dict[str, NDArray[Any]] = {}
    at = 0
    for name in row.names or ():
        end = at + num * row[name].itemsize
        fields[name] = out[at:end].view(row[name].base).reshape(num, *row[name].shape)
        at = end
    return fields


@kernel
def _decompress(packed: NDArray[np.uint8], out: NDArray[np.uint8]) -> bool:
    """Decompresses LZF into `out`; False unless that is filled exactly."""
    i = o = 0
    while i < packed.size:
        control = int(packed[i])
        i += 1
        if control < 32:  # that many bytes and one follow as they are
            if i + control + 1 > packed.size or o + control + 1 > out.size:
                return False
            for _ in range(control + 1):
                out[o] = packed[i]
                i += 1
                o += 1
        else:  # a copy of what came before: 3 bits of length, 13 of distance; length 7: a byte more
            length = control >> 5
            if i + (length == 7) >= packed.size:
                return False
            if length == 7:
                length += int(packed[i])
                i += 1
            start = o - ((control & 31) << 8) - int(packed[i]) - 1
            i += 1
            if start < 0 or o + length + 2 > out.size:
                return False
            for k in range(length + 2):
                out[o] = out[start + k]
                o += 1
    return o == out.size

"""Reads numpy's files: .npy and .npz. What a header states is compared with the file before memory is reserved."""

import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError, first_line
from mrac.io.input_file import check_file
from mrac.limits import check_unpacked

_MAX_MEMBERS = 10_000  # of an archive, whose directory is read whole


def read_array(path: Path) -> FloatArray:
    """The array in a .npy file.

    Raises:
        ContractError: the file is missing or broken, or beyond `mrac.limits`.
    """
    size = check_file(path)
    try:
        with path.open("rb") as file:
            return _array(file, size, size, str(path))
    except ContractError:
        raise
    except Exception as error:  # numpy evaluates a header as Python text, which fails in many ways
        raise ContractError(f"{path}: not a readable numpy file ({first_line(error)})") from None


def read_arrays(path: Path, needed: Sequence[str], optional: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """The named arrays in an .npz file.

    Raises:
        ContractError: the file is missing or broken, lacks one of `needed`, or is beyond `mrac.limits`.
    """
    check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            arrays = _members(archive, (*needed, *optional), path)
    except ContractError:
        raise
    except Exception as error:  # a damaged, encrypted or foreign archive raises nearly anything
        raise ContractError(f"{path}: not a readable numpy file ({first_line(error)})") from None
    missing = [name for name in needed if name not in arrays]
    if missing:
        raise ContractError(f"{path}: no array {missing[0]!r} inside; {', '.join(needed)} needed")
    return arrays


def stated_array(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of the array that starts here, by its header; raises nearly anything where that is damaged."""
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(file)
    return shape, dtype


def _members(archive: zipfile.ZipFile, names: Sequence[str], path: Path) -> dict[str, NDArray[Any]]:
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(members) > _MAX_MEMBERS:
        raise ContractError(f"{path}: {len(members):,} arrays inside; at most {_MAX_MEMBERS:,} are read")
    chosen = {name: members[name] for name in names if name in members}
    infos = chosen.values()
    check_unpacked(sum(info.file_size for info in infos), sum(info.compress_size for info in infos), str(path))
    arrays = {}
    for name, info in chosen.items():
        with archive.open(info) as file:
            arrays[name] = _array(file, info.file_size, info.compress_size, f"{path}: {name}")
    return arrays


def _array(file: IO[bytes], size: int, packed: int, where: str) -> NDArray[Any]:
    """The array that starts here, in a file that has `size` bytes from here on, `packed` as they are stored."""
    shape, dtype = stated_array(file)
    needed = math.prod(shape) * max(dtype.itemsize, 1)
    check_unpacked(needed, packed, f"{where}: shape {str(shape)[:60]}")
    if needed > size and dtype.itemsize:
        raise ContractError(f"{where}: cut short: shape {str(shape)[:60]} is {needed} bytes, {size} are there")
    file.seek(0)
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))

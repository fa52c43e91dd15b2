"""Reads .safetensors files: named arrays behind a JSON header, mapped into memory. Nothing in them can run code."""

import json
import math
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mrac.errors import ContractError
from mrac.io.input_file import check_file

# The format's own names; bfloat16 and the 8-bit floats have no type in numpy.
_DTYPES: Final = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip
_MAX_HEADER = 100_000_000  # the limit of the format's own reader


def read_safetensors(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name, read-only: pages are loaded as they are used.

    Raises:
        ContractError: the file is missing, cut off or damaged, or has a type that numpy lacks.
    """
    check_file(path)
    try:
        content = np.memmap(path, np.uint8, mode="r")
    except (OSError, ValueError) as error:  # a folder; an empty file cannot be mapped
        raise ContractError(f"{path}: not a readable .safetensors file ({error})") from None
    length = int.from_bytes(content[:8].tobytes(), "little")
    if content.size < 8 or not 2 <= length <= min(_MAX_HEADER, content.size - 8):
        raise ContractError(f"{path}: not a .safetensors file, or cut off: its {content.size} bytes have no header")
    try:
        header = json.loads(content[8 : 8 + length].tobytes())
    except (ValueError, RecursionError):
        raise ContractError(f"{path}: not a .safetensors file: its header is not JSON") from None
    if not isinstance(header, dict):
        raise ContractError(f"{path}: not a .safetensors file: its header is not a JSON object")
    data = content[8 + length :]
    return {name: _array(data, entry, f"{path}: {name}") for name, entry in header.items() if name != "__metadata__"}


def _array(data: NDArray[np.uint8], entry: Any, where: str) -> NDArray[Any]:
    try:
        kind, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
    except (TypeError, KeyError, ValueError):
        raise ContractError(f"{where}: dtype, shape and two data_offsets are needed, {entry!r:.80} arrived") from None
    if not isinstance(kind, str) or kind not in _DTYPES:
        raise ContractError(f"{where}: type {kind!r:.20} is not supported; one of {', '.join(_DTYPES)} is needed")
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in (*shape, begin, end)):
        raise ContractError(f"{where}: its shape or its place in the file is malformed")
    size = math.prod(shape) * np.dtype(_DTYPES[kind]).itemsize
    if end - begin != size:
        raise ContractError(f"{where}: {end - begin} bytes for shape {shape} of {kind}; {size} are needed")
    if end > data.size:
        raise ContractError(f"{where}: lies past the end of the file, which is cut off; fetch it again")
    values = data[begin:end].view(np.ndarray)
    # A file may put a tensor anywhere; numpy reads it there, other libraries need it aligned.
    return np.require(np.frombuffer(values, _DTYPES[kind]).reshape(shape), requirements="A")

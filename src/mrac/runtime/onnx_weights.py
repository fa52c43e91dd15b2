"""Feeds an ONNX graph without weights from a .safetensors file that has them under the graph's own names."""

import hashlib
import math
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrac.errors import ContractError
from mrac.io.safetensors import read_safetensors

# Field numbers of onnx.proto; the package `onnx`, which has a reader, is not needed at run time.
_GRAPH, _INITIALIZER = 7, 5
_DIMS, _NAME, _DATA_LOCATION = 1, 8, 14
_EXTERNAL = 1
_OUTPUT, _TYPE, _TENSOR_TYPE, _SHAPE, _DIM, _DIM_VALUE = 12, 2, 1, 2, 1, 1


def add_weights(options: Any, graph: Path, weights: Path, where: str) -> list[Any]:
    """Gives the graph's external tensors to ONNX Runtime's session `options`.

    Returns:
        The values, which the runtime does not copy: they must live as long as the session.

    Raises:
        ContractError: the file of weights is damaged, or is another network's.
    """
    import onnxruntime  # noqa: PLC0415  (half a second)

    found = read_safetensors(weights)
    needed = external_tensors(graph.read_bytes())
    for name, shape in needed.items():
        if name not in found:
            raise ContractError(f"{where}: {weights} has no tensor {name}; it is another network's file")
        values = found[name]
        if values.shape != shape or values.dtype != np.float32:
            raise ContractError(
                f"{where}: {weights}: {name} is {values.dtype} of shape {values.shape}; float32 of {shape} is needed: "
                "it is another network's file"
            )
    kept = [onnxruntime.OrtValue.ortvalue_from_numpy(found[name]) for name in needed]
    options.add_external_initializers(list(needed), kept)
    return kept


@cache  # a file of this package
def graph_identity(graph: Path) -> str:
    """The runtime's version and a digest of a graph without weights."""
    return f"onnxruntime {version('onnxruntime')}, {hashlib.sha256(graph.read_bytes()).hexdigest()}"


def external_tensors(model: bytes) -> dict[str, tuple[int, ...]]:
    """Name and shape of every initialiser of an ONNX file's content whose values are in another file."""
    found = {}
    for graph in _messages(memoryview(model), _GRAPH):
        for tensor in _messages(graph, _INITIALIZER):
            name, shape, external = "", [], False
            for field, value in _fields(tensor):
                if field == _NAME and not isinstance(value, int):
                    name = bytes(value).decode()
                elif field == _DIMS:  # packed or one by one: both are valid
                    shape += [value] if isinstance(value, int) else list(_varints(value))
                elif field == _DATA_LOCATION:
                    external = value == _EXTERNAL
            if external:
                found[name] = tuple(shape)
    return found


def largest_output(model: bytes) -> int:
    """Bytes, as float32, of the largest output whose shape an ONNX file's content states in numbers; 0 without one."""
    found = [0]
    for graph in _messages(memoryview(model), _GRAPH):
        for output in _messages(graph, _OUTPUT):
            levels = [output]
            for field in (_TYPE, _TENSOR_TYPE, _SHAPE, _DIM):
                levels = [inner for level in levels for inner in _messages(level, field)]
            sizes = [dict(_fields(dim)).get(_DIM_VALUE) for dim in levels]
            if sizes and all(isinstance(size, int) for size in sizes):
                found.append(4 * math.prod(size for size in sizes if isinstance(size, int)))
    return max(found)


def _messages(content: memoryview, wanted: int) -> Iterator[memoryview]:
    for field, value in _fields(content):
        if field == wanted and not isinstance(value, int):
            yield value


def _fields(content: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of the fields of a Protocol Buffers message: an integer, or the bytes of anything else."""
    fixed: Final = {1: 8, 5: 4}  # wire types of a fixed length
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(content, at)
            yield key >> 3, value
            continue
        length, at = (fixed[kind], at) if kind in fixed else _varint(content, at)
        yield key >> 3, content[at : at + length]
        at += length


def _varints(content: memoryview) -> Iterator[int]:
    at = 0
    while at < len(content):
        value, at = _varint(content, at)
        yield value


def _varint(content: memoryview, at: int) -> tuple[int, int]:
    """An integer of seven bits a byte, the lowest first, and the place behind it."""
    value = shift = 0
    while True:
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at

"""Writes small ONNX files byte by byte (Protocol Buffers), so that tests of their readers need no `onnx` package."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_FLOAT, _EXTERNAL = 1, 1  # of onnx.proto's enumerations


@dataclass(frozen=True)
class Node:
    """One operation: its type in ONNX, the names of what goes in and the name of what comes out."""

    operation: str
    inputs: Sequence[str]
    output: str


def write_onnx(
    path: Path,
    nodes: Sequence[Node],
    inputs: Mapping[str, Sequence[int]],
    outputs: Mapping[str, Sequence[int]],
    constants: Mapping[str, NDArray[np.float32]] | None = None,
    metadata: Mapping[str, str] | None = None,
    constants_file: str = "",
) -> None:
    """Writes a float32 graph of opset 13; the constants go to `constants_file`, beside the file, where one is named."""
    stored = b""
    for name, values in (constants or {}).items():
        content = field_bytes(9, np.ascontiguousarray(values, "<f4").tobytes())
        if constants_file:
            (path.parent / constants_file).write_bytes(np.ascontiguousarray(values, "<f4").tobytes())
            content = field_bytes(13, _entry("location", constants_file)) + field_number(14, _EXTERNAL)
        shape = b"".join(field_number(1, side) for side in values.shape)
        stored += field_bytes(5, shape + field_number(2, _FLOAT) + field_text(8, name) + content)
    graph = b"".join(
        field_bytes(
            1,
            b"".join(field_text(1, name) for name in node.inputs)
            + field_text(2, node.output)
            + field_text(4, node.operation),
        )
        for node in nodes
    )
    graph += field_text(2, "graph") + stored
    for field, described in ((11, inputs), (12, outputs)):
        graph += b"".join(field_bytes(field, _value(name, shape)) for name, shape in described.items())
    about = b"".join(field_bytes(14, _entry(key, value)) for key, value in (metadata or {}).items())
    path.write_bytes(
        field_number(1, 8) + field_bytes(7, graph) + field_bytes(8, field_text(1, "") + field_number(2, 13)) + about
    )


def _value(name: str, shape: Sequence[int]) -> bytes:
    dimensions = b"".join(field_bytes(1, field_number(1, side)) for side in shape)
    return field_text(1, name) + field_bytes(2, field_bytes(1, field_number(1, _FLOAT) + field_bytes(2, dimensions)))


def _entry(key: str, value: str) -> bytes:
    return field_text(1, key) + field_text(2, value)


def field_text(field: int, value: str) -> bytes:
    return field_bytes(field, value.encode())


def field_bytes(field: int, value: bytes) -> bytes:
    return _number(field << 3 | 2) + _number(len(value)) + value


def field_number(field: int, value: int) -> bytes:
    return _number(field << 3) + _number(value)


def _number(value: int) -> bytes:
    """Seven bits a byte, the lowest first, the highest bit set where more follow."""
    more, out = value, bytearray()
    while more > 0x7F:
        out.append(more & 0x7F | 0x80)
        more >>= 7
    return bytes([*out, more])

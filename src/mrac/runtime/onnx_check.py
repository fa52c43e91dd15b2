"""Looks into an ONNX file before a runtime loads it: refuses what reads other files, needs other code, or is too large.

The package `onnx`, which has a reader, is not needed at run time: field numbers are those of onnx.proto.
"""

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from mrac.errors import ContractError, shown
from mrac.io.input_file import read_bytes
from mrac.limits import check_unpacked
from mrac.runtime.protobuf import fields, varints

# Which messages lie in which field of a message: all that may hold a tensor, a node or a shape are reached.
_GRAPH: Final = {1: "node", 5: "tensor", 11: "value", 12: "value", 13: "value", 15: "sparse"}
_INNER: Final = {
    "model": {7: "main graph", 20: "training", 25: "function"},
    "main graph": {**_GRAPH, 5: "initializer"},
    "graph": _GRAPH,
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute", 12: "value"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "value": {2: "type"},
    "type": {1: "tensor type", 8: "tensor type", 4: "container", 9: "container"},
    "container": {1: "type"},
    "tensor type": {2: "shape"},
}
_DIMS: Final = {"tensor": 1, "initializer": 1, "sparse": 3, "shape": 1}
_DIM_VALUE: Final = 1
_TENSOR_NAME, _DATA_LOCATION, _EXTERNAL = 8, 14, 1
_OPERATOR, _OPERATOR_DOMAIN, _FUNCTION, _FUNCTION_DOMAIN = 4, 7, 1, 10
# Operators that are part of ONNX Runtime itself; a library with others is never loaded.
_DOMAINS: Final = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft")
_READS_A_FILE: Final = "EPContext"  # an accelerator's own program, which may lie in a file that the node names
_MAX_FIELDS: Final = 5_000_000  # some seconds to walk; ten thousand nodes have a twentieth
_MAX_AXES: Final = 64
_PER_BYTE: Final = 4  # elements of a tensor: the smallest type has 2 bits
_NEGATIVE: Final = 1 << 63  # and above, as an unsigned number


class _Message(NamedTuple):
    kind: str
    num_bytes: int
    content: list[tuple[int, int | memoryview]]

    def text(self, field: int) -> str:
        """The text of a field; empty without one. Of several the last counts, as for every reader of the format."""
        found = [bytes(value).decode() for at, value in self.content if at == field and not isinstance(value, int)]
        return found[-1] if found else ""

    def shape(self) -> list[int]:
        """Sizes of a tensor or a stated array, as unsigned numbers; 1 where a size has no number."""
        sizes: list[int] = []
        for field, value in self.content:
            if field == _DIMS[self.kind]:
                if isinstance(value, int):
                    sizes.append(value)
                elif self.kind == "shape":
                    sizes.append(_size(value))
                else:  # packed, which is as valid as one by one
                    sizes += islice(varints(value), _MAX_AXES + 1)
        if len(sizes) > _MAX_AXES:
            raise ValueError(f"an array of more than {_MAX_AXES} axes")
        return sizes


def check_onnx(path: Path, where: str, weights_elsewhere: bool = False) -> None:
    """Refuses an ONNX file that is not whole and by itself. What it names is neither opened nor looked for.

    Args:
        path: of the file.
        where: the stage's name: starts the message.
        weights_elsewhere: whether the initialisers may lie outside of the file, because they are given to the runtime
            as values (`onnx_weights.add_weights`).

    Raises:
        ContractError: it cannot be read, is damaged, keeps weights in another file, uses operators that are neither
            ONNX Runtime's own nor defined in it, or states sizes that cannot be.
    """
    named = f"{where}: {path}"
    used, defined = set(), set()
    try:
        for message in _walk(memoryview(read_bytes(path, where))):
            if message.kind in ("tensor", "initializer"):
                _check_tensor(message, named, weights_elsewhere and message.kind == "initializer")
            elif message.kind in ("sparse", "shape"):  # a sparse tensor is made dense while it is loaded
                _check_memory(message.shape(), named)
            elif message.kind == "node":
                used.add((message.text(_OPERATOR_DOMAIN), message.text(_OPERATOR)))
            elif message.kind == "function":
                defined.add((message.text(_FUNCTION_DOMAIN), message.text(_FUNCTION)))
    except ContractError:
        raise
    except ValueError as error:
        raise ContractError(f"{named} is not a usable ONNX file: {error}") from None
    for domain, operator in sorted(used):
        own = domain in _DOMAINS or (domain, operator) in defined
        if not own or operator == _READS_A_FILE:
            raise ContractError(
                f"{named} uses the operator {shown(operator)} of {shown(domain)}; only those of ONNX Runtime itself "
                f"are run ({', '.join(_DOMAINS[1:])}), and none that reads a file. Export the network without it"
            )


def _walk(content: memoryview) -> Iterator[_Message]:
    """All messages of a model that may hold a tensor, a node or a shape.

    Raises:
        ValueError: it is no message, is cut, or has too many fields.
    """
    left, waiting = _MAX_FIELDS, [("model", content)]  # not by recursion: a hostile file may nest as deeply as it likes
    while waiting:
        kind, message = waiting.pop()
        found = list(islice(fields(message), left + 1))
        left -= len(found)
        if left < 0:
            raise ValueError(f"more than {_MAX_FIELDS:,} fields; no network has as many")
        yield _Message(kind, len(message), found)
        inner = _INNER.get(kind, {})
        waiting += [(inner[field], value) for field, value in found if field in inner and not isinstance(value, int)]


def _check_tensor(tensor: _Message, named: str, may_lie_elsewhere: bool) -> None:
    # An enumeration has the lower 32 bits of its number.
    places = [
        value & 0xFFFF_FFFF for field, value in tensor.content if field == _DATA_LOCATION and isinstance(value, int)
    ]
    name = shown(tensor.text(_TENSOR_NAME))
    if _EXTERNAL in places:
        if not may_lie_elsewhere:
            raise ContractError(
                f"{named} keeps weights ({name}) in another file, which is not read; write it as one file: "
                "onnx.save(model, path, save_as_external_data=False)"
            )
        return
    shape = tensor.shape()
    if any(size >= _NEGATIVE for size in shape):
        raise ContractError(f"{named}: the tensor {name} states a negative size; it is damaged")
    if math.prod(shape) > _PER_BYTE * tensor.num_bytes:
        raise ContractError(
            f"{named}: the tensor {name} states {math.prod(shape):,} elements in {tensor.num_bytes:,} bytes, which "
            "cannot hold them; it is damaged"
        )


def _check_memory(shape: list[int], named: str) -> None:
    sizes = [size if size < _NEGATIVE else 1 for size in shape]  # some exporters write −1 for a size that is not known
    needed = 4 * math.prod(sizes)  # as float32
    check_unpacked(needed, needed, f"{named}: an array of shape {shown(tuple(sizes))}")


def _size(dimension: memoryview) -> int:
    """The number of a dimension; 1, the least that it may be, where it has none."""
    value = 1
    for field, found in fields(dimension):
        if field == _DIM_VALUE and isinstance(found, int):
            value = found
    return value

"""Feeds an ONNX graph without weights from a .safetensors file that has them under the graph's own names."""

from pathlib import Path
from typing import Any

import numpy as np

from mrac.errors import ContractError
from mrac.io.safetensors import read_safetensors
from mrac.runtime.protobuf import fields, messages, varints
from mrac.runtime.providers import import_onnxruntime

# Field numbers of onnx.proto; the package `onnx`, which has a reader, is not needed at run time.
_GRAPH, _INITIALIZER = 7, 5
_DIMS, _NAME, _DATA_LOCATION = 1, 8, 14
_EXTERNAL = 1


def add_weights(options: Any, graph: Path, weights: Path, where: str) -> list[Any]:
    """Gives the graph's external tensors to ONNX Runtime's session `options`.

    Returns:
        The values, which the runtime does not copy: they must live as long as the session.

    Raises:
        ContractError: the file of weights is damaged, or is another network's.
    """
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
    kept = [import_onnxruntime().OrtValue.ortvalue_from_numpy(found[name]) for name in needed]
    options.add_external_initializers(list(needed), kept)
    return kept


def external_tensors(model: bytes) -> dict[str, tuple[int, ...]]:
    """Name and shape of every initialiser of an ONNX file's content whose values are in another file."""
    found = {}
    for graph in messages(memoryview(model), _GRAPH):
        for tensor in messages(graph, _INITIALIZER):
            name, shape, external = "", [], False
            for field, value in fields(tensor):
                if field == _NAME and not isinstance(value, int):
                    name = bytes(value).decode()
                elif field == _DIMS:  # packed or one by one: both are valid
                    shape += [value] if isinstance(value, int) else list(varints(value))
                elif field == _DATA_LOCATION:
                    external = value == _EXTERNAL
            if external:
                found[name] = tuple(shape)
    return found

"""Writes .safetensors files byte by byte, so that tests of their reader need no `safetensors` package."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrac.runtime.onnx_weights import external_tensors

_NAMES = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64", "uint8": "U8", "bool": "BOOL"}


def write_safetensors(
    path: Path, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str] | None = None
) -> None:
    """The arrays one after the other behind a header that is filled with blanks to a multiple of eight bytes."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    for name, values in arrays.items():
        span = [at, at + values.nbytes]
        header[name] = {"dtype": _NAMES[values.dtype.name], "shape": list(values.shape), "data_offsets": span}
        at = span[1]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for values in arrays.values():
            file.write(np.ascontiguousarray(values).tobytes())


def write_random_weights(graph: Path, path: Path, seed: int = 0) -> None:
    """Weights for a graph without any: small random numbers, norms near 1, so that no layer explodes."""
    rng = np.random.default_rng(seed)
    arrays = {}
    for name, shape in external_tensors(graph.read_bytes()).items():
        values = rng.standard_normal(shape, np.float32) / math.sqrt(math.prod(shape[1:]) or 1)
        arrays[name] = (1 + values * 0.1 if "norm" in name else values).astype(np.float32)
    write_safetensors(path, arrays)

"""Runs ONNX files on the CPU, loaded once per process; also their metadata and the digest of their content."""

import hashlib
import threading
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mrac.conventions import FloatArray
from mrac.errors import ContractError, first_line
from mrac.runtime.parallel import core_limit

_loading = threading.Lock()


def run_network(path: Path, inputs: FloatArray | Mapping[str, FloatArray], where: str) -> Any:
    """The first output of the network in `path`; any number of threads may run one network at the same time.

    Args:
        path: of the .onnx file.
        inputs: float32, by name; or the only input, whatever the file calls it.
        where: the stage's name, for errors.

    Raises:
        ContractError: the file is missing or broken, or does not take such inputs.
    """
    session = _session(path, where)
    named = inputs if isinstance(inputs, Mapping) else {session.get_inputs()[0].name: inputs}
    try:
        return session.run(None, dict(named))[0]
    except Exception as error:  # onnxruntime raises classes of its own that share no public base
        raise ContractError(f"{where}: {path} did not take {_described(inputs)}: {first_line(error)}") from None


def network_metadata(path: Path, where: str) -> dict[str, str]:
    """The metadata of the ONNX file `path`, by key; empty if it has none.

    Raises:
        ContractError: the file is missing or broken.
    """
    return dict(_session(path, where).get_modelmeta().custom_metadata_map)


def network_identity(path: Path) -> str | None:
    """The runtime's version and a digest of the file; None if it is missing or its weights are in another file."""
    try:
        content = _content(str(path), path.stat().st_mtime_ns)
    except OSError:
        return None  # the call itself raises the error
    return None if content is None else f"onnxruntime {version('onnxruntime')}, {content}"


@lru_cache(maxsize=16)
def _content(path: str, changed_ns: int) -> str | None:  # keyed by the time of the last change
    content = Path(path).read_bytes()
    # The format's entry "location" names an external file of weights, which may change while this file does not.
    return None if b"\x0a\x08location" in content else hashlib.sha256(content).hexdigest()


def _described(inputs: FloatArray | Mapping[str, FloatArray]) -> str:
    if not isinstance(inputs, Mapping):
        return f"a float32 input of shape {inputs.shape}"
    return f"float32 inputs {', '.join(f'{name} of shape {values.shape}' for name, values in inputs.items())}"


def _session(path: Path, where: str) -> Any:
    # The lock keeps threads that need a network for the first time from each loading it.
    with _loading:
        return _load(str(path), path.stat().st_mtime_ns if path.is_file() else 0, where)


@lru_cache(maxsize=8)  # a foundation and the heads of a whole benchmark
def _load(path: str, changed_ns: int, where: str) -> Any:  # keyed by the time of the last change
    import onnxruntime  # noqa: PLC0415  (half a second and 50 MB: only if a network is used)

    if not Path(path).is_file():
        raise ContractError(f"{where}: no file {path}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = core_limit() or 0  # 0: the runtime's own choice
    try:
        return onnxruntime.InferenceSession(path, sess_options=options, providers=["CPUExecutionProvider"])
    except Exception as error:  # as above
        raise ContractError(f"{where}: {path} is not a usable ONNX file: {first_line(error)}") from None

"""An ONNX file: which one it is, and ready to run on the CPU, loaded once per process."""

import hashlib
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mrac.conventions import FloatArray
from mrac.errors import ContractError, first_line


def run_network(path: Path, batch: FloatArray, where: str) -> Any:
    """The first output of the network in `path` for a float32 `batch` (B, 3, H, W).

    Args:
        path: of the .onnx file.
        batch: the input.
        where: the foundation's name, for errors.

    Raises:
        ContractError: the file is missing or broken, or does not take such an input.
    """
    session = _session(str(path), path.stat().st_mtime_ns if path.is_file() else 0, where)
    try:
        return session.run(None, {session.get_inputs()[0].name: batch})[0]
    except Exception as error:  # onnxruntime raises classes of its own that share no public base
        raise ContractError(
            f"{where}: {path} did not take a float32 input of shape {batch.shape}: {first_line(error)}"
        ) from None


def network_identity(path: Path) -> str | None:
    """The runtime's version and the file's content; None where it is missing or its weights lie in another file."""
    try:
        content = _content(str(path), path.stat().st_mtime_ns)
    except OSError:
        return None  # the call itself will say what is missing
    return None if content is None else f"onnxruntime {version('onnxruntime')}, {content}"


@lru_cache(maxsize=16)
def _content(path: str, changed_ns: int) -> str | None:  # keyed by the time of the last change
    content = Path(path).read_bytes()
    # How the format names a file of weights beside it (an entry of key "location"): that one may change unseen.
    return None if b"\x0a\x08location" in content else hashlib.sha256(content).hexdigest()


@lru_cache(maxsize=4)
def _session(path: str, changed_ns: int, where: str) -> Any:  # keyed by the time of the last change
    import onnxruntime  # noqa: PLC0415  (half a second and 50 MB: only those who use a network pay)

    if not Path(path).is_file():
        raise ContractError(f"{where}: no file {path}")
    try:
        return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    except Exception as error:  # as above
        raise ContractError(f"{where}: {path} is not a usable ONNX file: {first_line(error)}") from None

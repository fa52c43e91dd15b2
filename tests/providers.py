"""ONNX Runtime as on other machines: packages, listed providers, and those that load; networks run on the CPU."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError
from typing import Any

import onnxruntime
import pytest

from mrac.runtime import onnx_session, providers

CPU, CUDA, TENSORRT = "CPUExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"
GPU_PACKAGE = {"onnxruntime-gpu": "1.31.1"}


class Machine:
    """What was asked of its ONNX Runtime.

    Attributes:
        asked: of every session of a file, (path, names of providers) as they were asked for, in order.
        preloads: how often CUDA's libraries were loaded.
        options: of providers, as last given.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.preloads = 0
        self.options: dict[str, dict[str, str]] = {}


@contextmanager
def machine_with(
    listed: Sequence[str], packages: dict[str, str], loading: Sequence[str] | None = None, fails: str = ""
) -> Iterator[Machine]:
    """Runs the `with` as on a machine of these packages, whose sessions have those of `listed` that are `loading` too.

    Args:
        listed: what `get_available_providers` says.
        packages: installed, with versions.
        loading: all of `listed` by default.
        fails: the message of an error that every session but the CPU's raises.
    """
    machine, loads = Machine(), listed if loading is None else loading
    start = onnxruntime.InferenceSession

    def session(model: Any, *, sess_options: Any, providers: Sequence[Any], enable_fallback: int = 1) -> Any:
        assert enable_fallback == 0, "the runtime's own fallback is silent"
        pairs = [(one, {}) if isinstance(one, str) else one for one in providers]
        names = [name for name, _ in pairs]
        assert set(names) <= set(listed), "onnxruntime warns of others"
        machine.options.update(pairs)
        if isinstance(model, str):
            machine.asked.append((model, names))
        if fails and names != [CPU]:
            raise RuntimeError(fails)
        made = start(model, sess_options=sess_options, providers=[CPU])
        made.get_providers = lambda: [name for name in names if name in loads]
        return made

    def preload() -> None:
        machine.preloads += 1

    def version(name: str) -> str:
        if name not in packages:
            raise PackageNotFoundError(name)
        return packages[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnxruntime, "InferenceSession", session)
        patch.setattr(onnxruntime, "get_available_providers", lambda: list(listed))
        patch.setattr(onnxruntime, "preload_dlls", preload)
        patch.setattr(providers, "version", version)
        _forget()
        try:
            yield machine
        finally:
            _forget()


def _forget() -> None:
    for cached in (providers.problem, providers._chosen, providers.runtime_version):
        cached.cache_clear()
    onnx_session._sessions.clear()

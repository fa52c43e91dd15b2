"""Runs ONNX files on the device of the call, loaded once per process; also their metadata and their digest."""

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, Protocol, TypeAlias, TypeVar

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError, first_line
from mrac.runtime.forking import abandon, call_in_child, hold_at_fork
from mrac.runtime.onnx_check import check_onnx
from mrac.runtime.onnx_weights import add_weights
from mrac.runtime.parallel import meanwhile, num_cores
from mrac.runtime.providers import (
    DEVICES,
    choose,
    import_onnxruntime,
    make_session,
    not_loaded,
    refuse,
    runtime_version,
)
from mrac.runtime.weight_files import WEIGHTS

_loading = threading.Lock()
hold_at_fork(_loading.acquire, _loading.release)
_MAX_SESSIONS: Final = 8  # a foundation and the heads of a whole benchmark
_Key: TypeAlias = tuple[str, Path | None, tuple[int, ...], str, str, int]
_sessions: Final[dict[_Key, Any]] = {}  # the one used last is the last


@dataclass(frozen=True)
class DeviceUse:
    """The device of a call, and what ran on it.

    Attributes:
        asked: a name of `mrac list devices`, or `auto`.
        providers: by network, as its stage is called in errors, the ONNX Runtime provider that its session put first.
            Empty where none ran: relative depth was given or read from the cache, and the head has no network.
        reason: why `auto` did not take a device that it prefers; empty otherwise.
    """

    asked: str = "cpu"
    providers: dict[str, str] = field(default_factory=dict)
    reason: str = ""


# Of this thread's call. Stages hold parameters only, and calibrators of several devices may live in one process.
_use: Final[ContextVar[DeviceUse]] = ContextVar("mrac_device")


@contextmanager
def running_on(device: str) -> Iterator[None]:
    """Networks that this thread runs inside the `with` run on `device`; without one they run on the CPU."""
    token = _use.set(DeviceUse(device))
    try:
        yield
    finally:
        _use.reset(token)


# Of this thread's call too: what is to be done while its network runs; taken out when it is begun.
_beside: Final[ContextVar[list[Callable[[], object]]]] = ContextVar("mrac_beside")


@contextmanager
def beside_network(work: Callable[[], object]) -> Iterator[None]:
    """The first network that this thread runs inside the `with` does `work` meanwhile, on another core if there is one.

    It is for results that are kept and computed when needed: without a network, or on one core, `work` is not called,
    and what it raises is not raised. Not before the network runs, since a function that holds the interpreter lock for
    milliseconds, as LAPACK's do through scipy, would keep what prepares the network's input waiting.
    """
    token = _beside.set([work])
    try:
        yield
    finally:
        _beside.reset(token)


class _HasDevice(Protocol):
    device: str


_Self = TypeVar("_Self", bound=_HasDevice)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Method = Callable[Concatenate[_Self, _Arguments], _Result]


def on_own_device(method: _Method[_Self, _Arguments, _Result]) -> _Method[_Self, _Arguments, _Result]:
    """A method whose networks run on the `device` of its object."""

    @wraps(method)
    def run(self: _Self, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        with running_on(self.device):
            return method(self, *args, **kwargs)

    return run


def used_device() -> DeviceUse:
    """What this thread's call ran on so far."""
    use = _use.get(DeviceUse())
    reason = choose(use.asked).reason if use.providers else ""
    return replace(use, providers=dict(use.providers), reason=reason)


def run_network(
    path: Path, inputs: FloatArray | Mapping[str, FloatArray], where: str, weights: Path | None = None
) -> Any:
    """The first output of the network in `path`; any number of threads may run one network at the same time.

    Args:
        path: of the .onnx file.
        inputs: float32, by name; or the only input, whatever the file calls it.
        where: the stage's name, for errors.
        weights: the .safetensors file of a graph without weights; see `onnx_weights`.

    Raises:
        ContractError: a file is missing or broken, or does not take such inputs.
    """
    session = _session(path, where, weights)
    _use.get(DeviceUse()).providers[where] = session.get_providers()[0]
    return _run(session, path, inputs, where)


def run_network_twice(path: Path, first: FloatArray, second: FloatArray, where: str) -> tuple[FloatArray, FloatArray]:
    """The first output of the network in `path` for two inputs of one shape, batches of one.

    On two cores or more both run at the same time, each in a thread of its own, and the session has one thread less
    than there are cores: convolutions that are shared out wait for each other, 55 ms in place of 50 for two frames of
    the embedded network on two cores. On another device than the processor they are one batch.

    Raises:
        ContractError: as `run_network`.
    """
    on_cpu, cores = _device_name() == "cpu", num_cores()
    session = _session(path, where, num_threads=cores - 1 if on_cpu and cores > 1 else cores)
    _use.get(DeviceUse()).providers[where] = session.get_providers()[0]
    if not on_cpu:
        both = _run(session, path, np.concatenate([first, second]), where)
        return both[:1], both[1:]
    with meanwhile(lambda: _run(session, path, second, where)) as other:
        one = _run(session, path, first, where)
    return one, other()


def _run(session: Any, path: Path, inputs: FloatArray | Mapping[str, FloatArray], where: str) -> Any:
    named = inputs if isinstance(inputs, Mapping) else {session.get_inputs()[0].name: inputs}
    waiting = _beside.get([])
    try:
        with meanwhile(waiting.pop()) if waiting else nullcontext():
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
    """Version and device of the runtime and a digest of the file; None without it or with weights in another file."""
    try:
        content = _content(str(path), path.stat().st_mtime_ns)
    except OSError:
        return None  # the call itself raises the error
    # The weights of another file may change while this file does not.
    return None if content.is_elsewhere else _identity(content.sha256)


def graph_identity(graph: Path) -> str:
    """As `network_identity`, of a graph whose weights lie elsewhere; what these are the caller has to add."""
    return _identity(_content(str(graph), graph.stat().st_mtime_ns).sha256)


def _identity(sha256: str) -> str:
    device = _device_name()  # of another one the last bits are others
    return f"{runtime_version()}, {sha256}{'' if device == 'cpu' else f', {device}'}"


class _Content(NamedTuple):
    sha256: str
    is_elsewhere: bool


@lru_cache(maxsize=16)
def _content(path: str, changed_ns: int) -> _Content:  # keyed by the time of the last change
    content = Path(path).read_bytes()
    # The format's entry "location" names an external file of weights.
    return _Content(hashlib.sha256(content).hexdigest(), b"\x0a\x08location" in content)


def _described(inputs: FloatArray | Mapping[str, FloatArray]) -> str:
    if not isinstance(inputs, Mapping):
        return f"a float32 input of shape {inputs.shape}"
    return f"float32 inputs {', '.join(f'{name} of shape {values.shape}' for name, values in inputs.items())}"


def _device_name() -> str:
    return choose(_use.get(DeviceUse()).asked).device.name


def _session(path: Path, where: str, weights: Path | None = None, num_threads: int | None = None) -> Any:
    device, threads = _device_name(), num_threads or num_cores()
    # The lock keeps threads that need a network for the first time from each loading it.
    with _loading:
        changed_ns = tuple(file.stat().st_mtime_ns if file and file.is_file() else 0 for file in (path, weights))
        key = (str(path), weights, changed_ns, where, device, threads)  # by the times of the last changes
        session = _sessions.pop(key, None) or _load(path, weights, where, device, threads)
        _sessions[key] = session
        if len(_sessions) > _MAX_SESSIONS:
            del _sessions[next(iter(_sessions))]
        return session


def _forget_sessions() -> None:
    """In a forked process: a session of the parent waits for threads that are not here. Networks are loaded anew."""
    for session in _sessions.values():
        abandon(session)
    _sessions.clear()


call_in_child(_forget_sessions)


def _load(file: Path, weights: Path | None, where: str, name: str, num_threads: int) -> Any:
    if not file.is_file():
        raise ContractError(f"{where}: no file {file}")
    if file.parent != WEIGHTS:  # tests look into the package's own; at every start it would be some 20 ms
        check_onnx(file, where, weights_elsewhere=weights is not None)
    path = str(file)
    device, options = DEVICES[name], _options(num_threads)
    kept = [] if weights is None else add_weights(options, Path(path), weights, where)
    try:
        session = make_session(path, options, device)
    except Exception as error:  # as above
        on = "" if name == "cpu" else f" on {name}"
        raise ContractError(f"{where}: {path} is not a usable ONNX file{on}: {first_line(error)}") from None
    if device.providers[0] not in session.get_providers():
        refuse(f"{where}: {path}: device {name}", not_loaded(device, session.get_providers()))
    session.mrac_weights = kept  # the runtime points into these
    return session


def _options(num_threads: int) -> Any:
    options = import_onnxruntime().SessionOptions()
    # The runtime's own choice counts the machine's cores, not those of a container, and binds threads to them.
    options.intra_op_num_threads = num_threads
    # A thread that waits by spinning takes a core from the gate's loops and from other processes.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Else the ending .ort selects a format that `check_onnx` does not read.
    options.add_session_config_entry("session.load_model_format", "ONNX")
    return options

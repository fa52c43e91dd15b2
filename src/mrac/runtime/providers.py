"""Devices that ONNX Runtime runs networks on: their providers, whether this machine has them, what to install."""

import importlib
import json
import logging
import os
import sys
import threading
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple, NoReturn

from mrac.errors import ContractError, first_line, shown
from mrac.runtime.forking import hold_at_fork

_LOG: Final = logging.getLogger("mrac.runtime.providers")
_CPU: Final = "CPUExecutionProvider"
# All of them install the folder `onnxruntime`: of two, the files of the later one are what is there.
_PACKAGES: Final = (
    "onnxruntime", "onnxruntime-gpu", "onnxruntime-openvino", "onnxruntime-directml", "onnxruntime-qnn",
    "onnxruntime-rocm", "onnxruntime-migraphx", "onnxruntime-training", "ort-nightly", "ort-nightly-gpu",
)  # fmt: skip
# An ONNX file whose output is its input, of one number; a test makes it anew.
_SMALLEST: Final = (
    b'\x08\x08:;\n\x10\n\x01x\x12\x01y"\x08Identity\x12\x05graphZ\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01'
    b"b\x0f\n\x01y\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01B\x04\n\x00\x10\r"
)
_choosing = threading.Lock()
hold_at_fork(_choosing.acquire, _choosing.release)


@dataclass(frozen=True)
class Device:
    """What `Calibrator(device=...)` names.

    Attributes:
        name: as a user writes it.
        providers: of ONNX Runtime, in its words. The first has to load; what it cannot compute goes to the next.
        package: that has the first of them, as pip calls it.
        about: in one line.
        if_not_loading: what to install where the package is there and its libraries are not.
    """

    name: str
    providers: tuple[str, ...]
    package: str
    about: str
    if_not_loading: str = ""


class Problem(NamedTuple):
    """Why a device cannot be used, and what to do about it, if anything."""

    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return "; ".join(text for text in self if text)


class Choice(NamedTuple):
    """The device that a name stands for, and, of `auto`, why it is not one of those before it."""

    device: Device
    reason: str


_CUDA: Final = "CUDAExecutionProvider"
_OPENVINO: Final = "OpenVINOExecutionProvider"
DEVICES: Final = {
    one.name: one
    for one in (
        Device("cpu", (_CPU,), "onnxruntime", "The processor: the same bits on every machine of a kind."),
        Device(
            "cuda",
            (_CUDA, _CPU),
            "onnxruntime-gpu",
            "NVIDIA GPUs.",
            'a driver, CUDA and cuDNN are needed: pip install "onnxruntime-gpu[cuda,cudnn]"',
        ),
        Device(
            "tensorrt",
            ("TensorrtExecutionProvider", _CUDA, _CPU),
            "onnxruntime-gpu",
            "NVIDIA GPUs; the first call compiles each network for the size of its input.",
            "TensorRT is needed, and what cuda needs: pip install tensorrt",
        ),
        Device(
            "openvino",
            (_OPENVINO, _CPU),
            "onnxruntime-openvino",
            "Processors, in single precision.",
            "pip install --force-reinstall onnxruntime-openvino",
        ),
        Device(
            "coreml",
            ("CoreMLExecutionProvider", _CPU),
            "onnxruntime",
            "Apple's processors.",
            "pip install --force-reinstall onnxruntime",
        ),
    )
}
DEVICE_NAMES: Final = (*DEVICES, "auto")
# TensorRT is taken only where it is named: it compiles for minutes.
PREFERRED: Final = ("cuda", "coreml", "openvino", "cpu")


@cache
def import_onnxruntime() -> Any:
    """The onnxruntime module, with its telemetry off.

    From 1.31 on, it would write an identifier of this machine to the user's cache folder and look up a collector's
    address. Only the environment, as it is when the library is loaded, prevents that; a user's own value is kept.

    Raises:
        ContractError: it cannot be imported.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        module = importlib.import_module("onnxruntime")  # a third of a second and 50 MB: only if a network is used
    except ImportError as error:
        raise ContractError(f"onnxruntime: {first_line(error)}; {_reinstall('onnxruntime')}") from None
    if os.environ["ORT_DISABLE_TELEMETRY"] == "1" and hasattr(module, "disable_telemetry_events"):
        module.disable_telemetry_events()  # on Windows, which has no such variable
    return module


def installed_packages() -> dict[str, str]:
    """The installed packages that provide onnxruntime, and their versions; more than one is a mistake."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache  # looking for packages takes milliseconds
def runtime_version() -> str:
    """The package that provides onnxruntime, with its version: `onnxruntime 1.31.1`, `onnxruntime-gpu 1.31.1`."""
    found = installed_packages()
    if not found:  # built from source
        return f"onnxruntime {import_onnxruntime().__version__}"
    return ", ".join(f"{name} {number}" for name, number in found.items())


def conflict() -> str:
    """What is wrong where two packages provide onnxruntime; empty where one does."""
    found = installed_packages()
    if len(found) < 2:
        return ""
    return f"{' and '.join(found)} are installed together and overwrite each other's files"


def checked_device(name: str, where: str) -> str:
    """The name, if all is well that can be known before a network is loaded; what a driver lacks shows in a call.

    Raises:
        ContractError: there is no such device, or the installed onnxruntime lacks its provider; the message says what
            to install.
    """
    given: object = name
    if not isinstance(given, str) or given not in DEVICE_NAMES:
        raise ContractError(f"{where}: device {shown(given)} arrived; one of {', '.join(DEVICE_NAMES)} is needed")
    if name not in ("cpu", "auto"):
        missing = _not_listed(DEVICES[name])
        if missing is not None:
            refuse(f"{where}: device {name}", missing)
    return name


def choose(name: str) -> Choice:
    """The device that `name` stands for, which has been seen to load; of `auto`, the first that does.

    Raises:
        ContractError: it is not `auto` and does not load; the message says what to install.
    """
    if name == "cpu":
        return Choice(DEVICES[name], "")
    with _choosing:  # so that the reason is logged once
        return _chosen(name)


@cache
def _chosen(name: str) -> Choice:
    if name != "auto":
        found = problem(name)
        if found is not None:
            refuse(f"device {name}", found)
        return Choice(DEVICES[name], "")
    passed = []
    for preferred in PREFERRED:
        found = problem(preferred)
        if found is None:
            break
        passed.append(f"{preferred}: {found.what}")
    reason = "; ".join(passed)
    _LOG.info("device auto is %s%s", preferred, f", since {reason}" if reason else "")
    return Choice(DEVICES[preferred], reason)


@cache
def problem(name: str) -> Problem | None:
    """Why the device cannot be used here; None where it loads."""
    device = DEVICES[name]
    missing = _not_listed(device)
    if missing is not None:
        return missing
    wanted = device.providers[0]
    try:
        loaded = make_session(_SMALLEST, import_onnxruntime().SessionOptions(), device).get_providers()
    except Exception as error:  # onnxruntime raises classes of its own that share no public base
        return Problem(f"{wanted} of {runtime_version()} does not load ({first_line(error)})", device.if_not_loading)
    return None if wanted in loaded else not_loaded(device, loaded)


def not_loaded(device: Device, loaded: list[str]) -> Problem:
    """The problem of a session that has other providers than the one asked for."""
    what = f"{device.providers[0]} of {runtime_version()} does not load, a network has {', '.join(loaded)} alone"
    return Problem(what, device.if_not_loading)


def make_session(model: str | bytes, options: Any, device: Device) -> Any:
    """A session of the network on the device; compare its `get_providers()` with what was asked for."""
    onnxruntime = import_onnxruntime()
    if _CUDA in device.providers and hasattr(onnxruntime, "preload_dlls"):
        onnxruntime.preload_dlls()  # CUDA's libraries of other packages, which the loader would not find
    listed = onnxruntime.get_available_providers()
    providers = [_with_options(name, options.intra_op_num_threads) for name in device.providers if name in listed]
    # Its own fallback would go on with another provider where one fails.
    return onnxruntime.InferenceSession(model, sess_options=options, providers=providers, enable_fallback=0)


def _with_options(provider: str, num_threads: int) -> str | tuple[str, dict[str, str]]:
    if provider == _CUDA:  # else convolutions round their input to ten bits, and depth is another than the processor's
        return provider, {"use_tf32": "0"}
    if provider == _OPENVINO:  # it does not read the session's options; 0 threads are all there are
        asked = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        threads = {"INFERENCE_NUM_THREADS": str(num_threads)} if num_threads else {}
        return provider, {"device_type": "CPU", "load_config": json.dumps({"CPU": {**asked, **threads}})}
    return provider


def _not_listed(device: Device) -> Problem | None:
    wanted = device.providers[0]
    if wanted in import_onnxruntime().get_available_providers():
        return None
    if device.name == "coreml" and sys.platform != "darwin":
        return Problem(f"{wanted} is there on macOS alone")
    overwritten = conflict()
    what = f"{overwritten}, {wanted} is gone" if overwritten else f"{runtime_version()} has no {wanted}"
    return Problem(what, _reinstall(device.package))


def _reinstall(package: str) -> str:
    """The commands that leave `package` alone in the folder that they share."""
    there = " ".join(installed_packages())
    install = f"`pip install {package}`"
    return f"`pip uninstall -y {there}`, then {install}" if there else install


def refuse(where: str, found: Problem) -> NoReturn:
    """Raises the `ContractError` of a problem."""
    raise ContractError(f"{where}: {found}; or choose another device: cpu, auto")

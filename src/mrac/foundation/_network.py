"""Loads a network of transformers from a folder to a device: image in, relative depth out."""

import functools
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import torch

from mrac.conventions import ImageArray
from mrac.errors import ContractError, MissingExtra, first_line
from mrac.foundation._checkpoint import Checkpoint, check_safetensors
from mrac.foundation._device import ComputeDevice
from mrac.foundation._family import Family
from mrac.types import RelativeDepth

# The configuration's model_type, and the module here that prepares the input of such networks and reads the output.
FAMILIES: Final = {
    "depth_anything": "_depth_anything",
    "depth_pro": "_depth_pro",
    "dpt": "_dpt",
    "zoedepth": "_zoedepth",
}


@dataclass(frozen=True, eq=False)
class Network:
    """A network ready to run.

    Attributes:
        model: transformers' module, in evaluation mode, on its device.
        family: prepares its input and reads its output.
        device: where it runs, and in which precision.
    """

    model: Any
    family: Family
    device: ComputeDevice

    def __call__(self, image: ImageArray) -> RelativeDepth:
        """Relative depth of the size of `image` (H, W, 3) uint8."""
        with torch.inference_mode():
            pixels = torch.from_numpy(self.family.prepare(image))[None].to(self.device.name)
            raw = self.family.predict(self.model, pixels).float().cpu()
            values = self.family.finish(raw, (image.shape[0], image.shape[1]))
        return RelativeDepth(values.numpy(), self.family.space)


def move_to(device: ComputeDevice, model: Any, family: Family) -> Network:
    """`model` on the device, its trunk in the device's precision."""
    model = model.eval().to(device.name)
    if device.dtype != "float32":
        _run_in_half(family.trunk(model), torch.device(device.name).type, getattr(torch, device.dtype))
    return Network(model, family, device)


@functools.lru_cache(maxsize=2)
def load(checkpoint: Checkpoint, fingerprint: str, resize: str, device: ComputeDevice, where: str) -> Network:
    """Loads a checkpoint; kept for the next call while `fingerprint`, which changes with the files, stays the same.

    Raises:
        ContractError: the folder holds no network of a known family, or its weights do not fit.
        MissingExtra: transformers is not installed.
    """
    kind = checkpoint.read_json("config.json", where).get("model_type")
    if kind not in FAMILIES:
        arrived = "no config.json that names a model_type" if kind is None else f"model_type {kind!r}"
        raise ContractError(f"{where}: {checkpoint.folder} has {arrived}; one of {', '.join(FAMILIES)} is needed")
    check_safetensors(checkpoint, where)
    family_class: type[Family] = import_module(f"mrac.foundation.{FAMILIES[kind]}").FAMILY
    stated = checkpoint.read_json("preprocessor_config.json", where)
    try:
        import transformers  # noqa: PLC0415  (an extra; seconds to import)
    except ImportError:
        raise MissingExtra(where, "torch") from None
    try:
        with _quiet(transformers):
            config = transformers.AutoConfig.from_pretrained(checkpoint.folder, local_files_only=True)
            family = family_class(config, stated, resize, where)
            model, report = getattr(transformers, family.model_class).from_pretrained(
                checkpoint.folder,
                local_files_only=True,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
                **family.load_options,
            )
    except ContractError:
        raise
    except Exception as error:  # whatever a damaged file makes json, safetensors and transformers raise
        raise ContractError(f"{where}: {checkpoint.folder} could not be loaded: {first_line(error)}") from None
    _check_complete(report, where)
    return move_to(device, model, family)


def _check_complete(report: Mapping[str, Any], where: str) -> None:
    """Raises `ContractError` if tensors are missing: transformers would fill them with random numbers and go on."""
    lacking = sorted(str(key) for kind in ("missing_keys", "mismatched_keys") for key in report.get(kind, ()))
    if lacking:
        raise ContractError(
            f"{where}: its weights lack {len(lacking)} tensors that its config.json asks for, such as {lacking[0]}; "
            "the two do not belong together"
        )


def _run_in_half(trunk: torch.nn.Module, device_type: str, dtype: torch.dtype) -> None:
    """Makes `trunk` compute in `dtype` and return single precision, so that the map is not quantised.

    bfloat16 has three digits: in the head it would show as steps of 0.4 % in the map.
    """
    forward = trunk.forward

    @functools.wraps(forward)
    def forward_in_half(*args: Any, **kwargs: Any) -> Any:
        with torch.autocast(device_type, dtype):
            output = forward(*args, **kwargs)
        return _single(output)

    trunk.forward = forward_in_half


def _single(output: Any) -> Any:
    """Every tensor of a network's output in single precision, its structure kept."""
    if isinstance(output, torch.Tensor):
        return output.float() if output.is_floating_point() else output
    if isinstance(output, tuple | list):
        return type(output)(_single(part) for part in output)
    if isinstance(output, Mapping):  # transformers' outputs are ordered mappings with attributes
        for key in list(output):
            output[key] = _single(output[key])  # type: ignore[index]  # all of transformers' can be written to
    return output


_LOGGING_LOCK = threading.Lock()


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Silences transformers' log messages and progress bars; what matters of them is checked and raised here."""
    logging = transformers.utils.logging
    with _LOGGING_LOCK, warnings.catch_warnings():
        # Raised when ZoeDepth's module is first imported; it cannot be avoided here.
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity(logging.CRITICAL)
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()

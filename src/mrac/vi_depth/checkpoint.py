"""Reads a scale-map learner's weights, published or our own: tensors only, no code, all names and shapes checked."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from mrac.errors import ContractError, first_line
from mrac.vi_depth.network import ScaleMapLearner

_PREFIX: Final = "model."  # of the network's entries in a Lightning checkpoint; others belong to the training
_NEEDED: Final = "a checkpoint such as sml_model.dpredictor.dpt_hybrid.nsamples.150.ckpt is needed"


def load_learner(path: Path) -> ScaleMapLearner:
    """The network in a published checkpoint, or in a .safetensors of our own, on the CPU, ready to predict.

    Raises:
        ContractError: the file is missing or damaged, holds objects other than numbers, or is of another network.
    """
    with torch.device("meta"):  # without initialising weights that are replaced at once
        network = ScaleMapLearner()
    state = _read_safetensors(path)[0] if path.suffix == ".safetensors" else _state(_read(path), path)
    _check(state, network.state_dict(), path)
    network.to_empty(device="cpu")
    network.load_state_dict(state)
    return network.eval()


def read_about(path: Path) -> dict[str, str]:
    """The metadata of a .safetensors file; a checkpoint has none.

    Raises:
        ContractError: the file is missing or damaged.
    """
    return _read_safetensors(path)[1] if path.suffix == ".safetensors" else {}


def _read_safetensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118  (no dict)
    except (OSError, SafetensorError) as error:
        raise ContractError(f"vi_depth: {path} cannot be read ({first_line(error)}); {_NEEDED}") from None


def _read(path: Path) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about unusual files; if one fails, the error below is raised
            return torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise ContractError(f"vi_depth: {path} cannot be read ({error.strerror or error}); {_NEEDED}") from None
    except UnpicklingError:
        raise ContractError(
            f"vi_depth: {path} is refused: it is damaged, or holds more than numbers, which may run code when read. "
            "If you trust where it comes from, write its `state_dict` alone, {'state_dict': ...}, with torch.save"
        ) from None
    except Exception as error:  # on damaged files the reader raises classes of many families
        raise ContractError(f"vi_depth: {path} is not a file of torch.save ({first_line(error)}); {_NEEDED}") from None


def _state(content: Any, path: Path) -> dict[str, Tensor]:
    """The network's tensors by name, out of any of the three layouts that VI-Depth accepts."""
    if isinstance(content, Mapping) and "optimizer" in content:
        content = content.get("model")
    if isinstance(content, Mapping) and "state_dict" in content:
        content = content["state_dict"]
        if isinstance(content, Mapping):
            named = {str(name): value for name, value in content.items()}
            content = {k.removeprefix(_PREFIX): v for k, v in named.items() if k.startswith(_PREFIX)}
    if not isinstance(content, Mapping) or not content:
        raise ContractError(f"vi_depth: {path} holds no `state_dict` with entries `{_PREFIX}...`; {_NEEDED}")
    return dict(content)


def _check(state: dict[str, Tensor], needed: Mapping[str, Tensor], path: Path) -> None:
    missing = [f"{name!r} is missing" for name in needed if name not in state]
    extra = [f"{name!r} is not part of it" for name in state if name not in needed]
    unfit = [
        f"{name!r} is {_described(state[name])} where {_described(like)} is needed"
        for name, like in needed.items()
        if name in state and not _same_kind(state[name], like)
    ]
    if missing or extra or unfit:
        raise ContractError(
            f"vi_depth: {path} does not fit the scale-map learner: {(missing + unfit + extra)[0]} (of {len(needed)} "
            f"entries {len(missing)} missing, {len(unfit)} of another shape or kind; {len(extra)} extra); {_NEEDED}"
        )
    damaged = [name for name, value in state.items() if not bool(torch.isfinite(value).all())]
    if damaged:
        raise ContractError(
            f"vi_depth: {path}: {damaged[0]!r} holds values that are not finite ({len(damaged)} entries do); {_NEEDED}"
        )


def _same_kind(value: object, like: Tensor) -> bool:
    return (
        isinstance(value, Tensor)
        and value.layout == torch.strided
        and value.shape == like.shape
        and value.dtype.is_floating_point == like.dtype.is_floating_point
    )


def _described(value: object) -> str:
    if not isinstance(value, Tensor):
        return type(value).__name__
    return f"{str(value.dtype).removeprefix('torch.')} of shape {tuple(value.shape)}"

"""The state of a training run in one safetensors file, written whole or not at all."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from mrac.errors import ContractError
from mrac.io.files import write_whole
from mrac.train.foundation import FoundationTraining


def save_state(training: FoundationTraining, path: Path) -> None:
    """Writes networks, optimiser and step; a reader sees the last state or this one, never a part."""
    tensors = {f"network.{name}": value for name, value in training.network.state_dict().items()}
    tensors |= {f"averaged.{name}": value for name, value in training.averaged.state_dict().items()}
    for number, state in training.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    described = {"step": training.step, "scaler": training.scaler.state_dict(), "options": _plain(training)}
    content = save(
        {name: value.detach().cpu().contiguous() for name, value in tensors.items()}, {"state": json.dumps(described)}
    )
    write_whole(path, lambda file: file.write(content))


def load_state(training: FoundationTraining, path: Path) -> None:
    """Puts `training` where the file left off.

    Raises:
        ContractError: the file is damaged, or of a run with other options.
    """
    try:
        with safe_open(path, framework="pt") as file:
            described = json.loads(file.metadata()["state"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a dict)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise ContractError(f"train: {path} cannot be read ({error}); delete it to start anew") from None
    if described["options"] != _plain(training):
        different = [k for k, v in _plain(training).items() if described["options"].get(k) != v]
        raise ContractError(
            f"train: {path} is of a run with other options ({', '.join(different)}); choose another folder, "
            "or delete it to start anew"
        )
    training.network.load_state_dict(_part(tensors, "network."))
    training.averaged.load_state_dict(_part(tensors, "averaged."))
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in _part(tensors, "optimizer.").items():
        number, _, what = name.partition(".")
        state.setdefault(int(number), {})[what] = value
    groups = training.optimizer.state_dict()["param_groups"]
    training.optimizer.load_state_dict({"state": state, "param_groups": groups})
    training.scaler.load_state_dict(described["scaler"])
    training.step = described["step"]


def _part(tensors: dict[str, Tensor], start: str) -> dict[str, Tensor]:
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}


def _plain(training: FoundationTraining) -> dict[str, Any]:
    """The options as JSON would give them back."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(training.options)))
    return plain


def save_network(network: torch.nn.Module, path: Path, about: dict[str, str]) -> None:
    """Writes the weights alone, in single precision, with words about them."""
    content = save({name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}, about)
    write_whole(path, lambda file: file.write(content))

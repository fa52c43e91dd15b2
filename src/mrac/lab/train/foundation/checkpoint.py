"""The state of a training run in one safetensors file, written whole or not at all."""

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from torch import Tensor

from mrac.errors import ContractError, first_line
from mrac.gpu.network import DepthNetwork, NetworkOptions
from mrac.io.files import write_whole
from mrac.lab.train.frames import Frames


class Training(Protocol):
    """The state of a run that can be written: networks, optimiser, step, and what decides the result."""

    step: int

    @property
    def network(self) -> torch.nn.Module:
        """That learns."""

    @property
    def averaged(self) -> torch.nn.Module:
        """The mean of its weights."""

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """With its moments."""

    @property
    def scaler(self) -> torch.GradScaler:
        """Of the loss."""

    @property
    def options(self) -> Any:
        """A dataclass."""

    @property
    def sets(self) -> list[Frames]:
        """What is learned from."""


def save_state(training: Training, path: Path) -> None:
    """Writes networks, optimiser and step; a reader sees the last state or this one, never a part."""
    tensors = {f"network.{name}": value for name, value in training.network.state_dict().items()}
    tensors |= {f"averaged.{name}": value for name, value in training.averaged.state_dict().items()}
    tensors |= optimizer_tensors(training.optimizer)
    described = {"step": training.step, "scaler": training.scaler.state_dict(), **_decides(training)}
    write_tensors(path, tensors, {"state": json.dumps(described)})


def load_state(training: Training, path: Path) -> None:
    """Puts `training` where the file left off.

    Raises:
        ContractError: the file is damaged, or of a run with other options or frames.
    """
    tensors, described = read_state(path)
    refuse_another_run(described, _decides(training), path)
    with of_this_version(path):
        training.network.load_state_dict(part(tensors, "network."))
        training.averaged.load_state_dict(part(tensors, "averaged."))
        load_optimizer(training.optimizer, part(tensors, "optimizer."))
        if described["scaler"]:  # a run on a CPU has none
            training.scaler.load_state_dict(described["scaler"])
        training.step = described["step"]


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: dict[str, str]) -> None:
    """Writes a safetensors file, whole or not at all."""
    content = save({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, about)
    write_whole(path, lambda file: file.write(content))


def read_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a state, and what it says of itself.

    Raises:
        ContractError: the file is damaged or no state.
    """
    try:
        with safe_open(path, framework="pt") as file:
            described: dict[str, Any] = json.loads(file.metadata()["state"])
            return {name: file.get_tensor(name) for name in file.keys()}, described  # noqa: SIM118  (not a dict)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise ContractError(f"train: {path} cannot be read ({error}); delete it to start anew") from None


@contextmanager
def of_this_version(path: Path) -> Iterator[None]:
    """Turns what goes wrong while a state is taken over into one line."""
    try:
        yield
    except (RuntimeError, KeyError, TypeError, ValueError):
        raise ContractError(f"train: {path} is of another version of mrac; delete it to start anew") from None


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The moments by `optimizer.<number of the parameter>.<name>`."""
    state: dict[int, dict[str, Tensor]] = optimizer.state_dict()["state"]
    return {f"optimizer.{i}.{name}": value for i, moments in state.items() for name, value in moments.items()}


def load_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Takes over what `optimizer_tensors` gave, without its first word."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, _, what = name.partition(".")
        parameter = parameters[int(number)]
        # Torch's fused AdamW refuses moments that lie in memory in another order than their channels-last parameter.
        same_order = torch.empty_like(parameter).copy_(value) if value.shape == parameter.shape else value
        state.setdefault(int(number), {})[what] = same_order.detach()
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def refuse_another_run(described: dict[str, Any], decides: dict[str, dict[str, Any]], path: Path) -> None:
    """Lets a state pass that was `described` with the same words as what `decides` the run that would go on from it.

    Raises:
        ContractError: anything differs.
    """
    for what, mine in decides.items():
        theirs = described.get(what) or {}
        different = sorted(key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key))
        if different:
            raise ContractError(
                f"train: {path} is of a run with other {what} ({', '.join(different)}); choose another folder, "
                "or delete it to start anew"
            )


def _decides(training: Training) -> dict[str, dict[str, Any]]:
    """What must be the same to go on, as JSON would give it back: the options, and per set which frames are seen.

    Without the frames, a run resumed with another hold-out would measure on what it had learnt by heart.
    """
    options = json.loads(json.dumps(dataclasses.asdict(training.options)))
    frames = {s.set_name: hashlib.sha256("\n".join(s.names).encode()).hexdigest() for s in training.sets}
    return {"options": options, "frames": frames}


def part(tensors: dict[str, Tensor], start: str) -> dict[str, Tensor]:
    """Those whose names begin so, without that beginning."""
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}


def save_network(network: torch.nn.Module, path: Path, about: dict[str, str]) -> None:
    """Writes the weights alone, in single precision, with words about them."""
    write_tensors(path, network.state_dict(), about)


def load_network(path: Path, options: NetworkOptions) -> DepthNetwork:
    """The network that `save_network` wrote.

    Raises:
        ContractError: the file is missing, damaged, or of another network.
    """
    network = DepthNetwork(options)
    try:
        network.load_state_dict(load_file(path))
    except (SafetensorError, OSError, RuntimeError) as error:
        raise ContractError(
            f"train: {path} is not a network of `mrac train foundation` ({first_line(error)}); its "
            "embedded.safetensors is needed"
        ) from None
    return network

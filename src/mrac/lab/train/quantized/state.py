"""The state of a fine-tuning run in one safetensors file, written whole or not at all."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mrac.lab.train.foundation.checkpoint import (
    load_optimizer,
    of_this_version,
    optimizer_tensors,
    part,
    read_state,
    refuse_another_run,
    write_tensors,
)
from mrac.lab.train.quantized.training import QuantizeTraining


def save_state(training: QuantizeTraining, path: Path) -> None:
    """Writes what is learned, its average, the best average, the optimiser and the step."""
    tensors: dict[str, Tensor] = {f"network.{name}": value for name, value in training.network.learned().items()}
    tensors |= {f"averaged.{name}": value for name, value in training.averages().items()}
    tensors |= {f"best.{name}": value for name, value in training.best.items()}
    tensors |= optimizer_tensors(training.optimizer)
    described = {"step": training.step, "score": training.score, **_decides(training)}
    write_tensors(path, tensors, {"state": json.dumps(described)})


def load_state(training: QuantizeTraining, path: Path) -> None:
    """Puts `training` where the file left off.

    Raises:
        ContractError: the file is damaged, or of a run with other options, frames or network.
    """
    tensors, described = read_state(path)
    refuse_another_run(described, _decides(training), path)
    with of_this_version(path):
        put(dict(training.network.learned()), part(tensors, "network."))
        put(training.averages(), part(tensors, "averaged."))
        training.best = part(tensors, "best.")
        load_optimizer(training.optimizer, part(tensors, "optimizer."))
        training.step, training.score = described["step"], described["score"]


@torch.no_grad()
def put(own: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    """Copies `values` into the tensors of the same names.

    Raises:
        KeyError: a name is missing on either side.
    """
    if own.keys() != values.keys():
        raise KeyError(min(own.keys() ^ values.keys()))
    for name, tensor in own.items():
        tensor.copy_(values[name])


def _decides(training: QuantizeTraining) -> dict[str, dict[str, Any]]:
    """What must be the same to go on: options, calibrated network, and per set which frames are seen."""
    options = json.loads(json.dumps(dataclasses.asdict(training.options)))
    frames = {s.set_name: hashlib.sha256("\n".join(s.names).encode()).hexdigest() for s in training.sets}
    return {"options": options, "network": {"calibrated": training.calibrated}, "frames": frames}

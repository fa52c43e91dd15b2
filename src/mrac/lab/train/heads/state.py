"""The state of a head's training in one file, and its networks, which say where they come from."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mrac.lab.train.foundation.checkpoint import (
    load_optimizer,
    of_this_version,
    optimizer_tensors,
    part,
    read_state,
    refuse_another_run,
    write_tensors,
)
from mrac.lab.train.heads.training import HeadTraining

Decides = dict[str, dict[str, Any]]
"""What must be the same to go on: the options, and what the frames hold."""


@dataclass(frozen=True)
class Watched:
    """What is known of how a run does.

    Attributes:
        best: the least AbsRel so far, mean over the sets held out; None before the first measurement.
        scores: of the last epoch, where it was measured.
    """

    best: float | None = None
    scores: dict[str, dict[str, float]] = field(default_factory=dict)


def save_head_state(training: HeadTraining, path: Path, decides: Decides, watched: Watched) -> None:
    """Writes network, optimiser, step and the losses of the epoch; a reader sees the last state or this one."""
    tensors = {f"network.{name}": value for name, value in training.network.state_dict().items()}
    tensors |= optimizer_tensors(training.optimizer)
    tensors["loss_sum"] = training.loss_sum
    scaler = training.accelerator.scaler
    described = {"step": training.step, "scaler": scaler.state_dict() if scaler else {}, "watched": asdict(watched)}
    write_tensors(path, tensors, {"state": json.dumps(described | decides)})


def load_head_state(training: HeadTraining, path: Path, decides: Decides) -> Watched:
    """Puts `training` where the file left off; gives what was known of it.

    Raises:
        ContractError: the file is damaged, or of a run with other options or frames.
    """
    tensors, described = read_state(path)
    refuse_another_run(described, decides, path)
    with of_this_version(path):
        training.network.load_state_dict(part(tensors, "network."))
        load_optimizer(training.optimizer, part(tensors, "optimizer."))
        training.loss_sum.copy_(tensors["loss_sum"])
        if described["scaler"] and training.accelerator.scaler:
            training.accelerator.scaler.load_state_dict(described["scaler"])
        training.step = described["step"]
        return Watched(**described["watched"])

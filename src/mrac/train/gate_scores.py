"""Trains the last word of the gate `consensus_learned`: scenes, a small network, one file of a few kilobytes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn
from torch.nn import functional

from mrac.errors import ContractError
from mrac.gate._scorer import REACH
from mrac.io.files import write_whole
from mrac.train.gate_frames import GateData
from mrac.train.gate_scenes import ScenePlan, Told, scenes
from mrac.train.log import append_line, make_folder, number, progress_bar

FILE: Final = "consensus_learned.npz"
_POWER: Final = 0.5  # a scene of K readings counts as K to this power
_REPORT: Final = 5  # epochs between lines of the log


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """The recipe.

    Attributes:
        num_epochs, batch: passes over the scenes, and scenes a step.
        rate: of learning, at its highest.
        decay: of the weights.
        own, everyone, hidden: widths of the layers, see `gate._scorer.Scorer`.
        plan: of the scenes.
        seed: of everything drawn.
    """

    num_epochs: int = 40
    batch: int = 64
    rate: float = 3e-3
    decay: float = 1e-4
    own: int = 32
    everyone: int = 8
    hidden: int = 16
    plan: ScenePlan = field(default_factory=ScenePlan)
    seed: int = 0


class ScoreNetwork(nn.Module):
    """`gate._scorer.Scorer` with gradients, for many scenes at once."""

    def __init__(self, num_inputs: int, options: ScoreOptions) -> None:
        super().__init__()
        self.own = nn.Linear(num_inputs, options.own)
        self.everyone = nn.Linear(num_inputs, options.everyone)
        self.share = nn.Linear(options.everyone, options.own, bias=False)
        self.hidden = nn.Linear(options.own, options.hidden)
        self.out = nn.Linear(options.hidden, 1)

    def forward(self, inputs_NF: Tensor, scene_N: Tensor, num_scenes: int) -> Tensor:
        """(N,) log odds of being wrong; `scene_N` is the scene of each reading."""
        said = functional.relu(self.everyone(inputs_NF))
        total = torch.zeros(num_scenes, said.shape[1]).index_add_(0, scene_N, said)
        mean = total / torch.bincount(scene_N, minlength=num_scenes)[:, None]
        first = functional.relu(self.own(inputs_NF) + self.share(mean)[scene_N])
        odds: Tensor = self.out(functional.relu(self.hidden(first)))[:, 0]
        return odds


def train_scores(options: ScoreOptions, data: GateData, out: Path, console: Console) -> Path:
    """Draws the scenes, trains, and writes `consensus_learned.npz` and log.jsonl into `out`.

    Raises:
        ContractError: the pack or a network cannot be read, or no scene came of it.
    """
    make_folder(out)
    found = list(_all_scenes(options, data, console))
    if not found:
        raise ContractError(f"train: no scene of three readings or more could be drawn from {data.folder}")
    network, mean, std = fit(found, options, out, console)
    file = out / FILE
    write_whole(file, lambda opened: np.savez(opened, **_arrays(network, mean, std, found[0].names)))
    return file


def _all_scenes(options: ScoreOptions, data: GateData, console: Console) -> Iterator[Told]:
    sets, plan = data.sets(), options.plan
    with progress_bar(console) as progress:
        for name, frames in sets.items():
            for turned, chosen in ((False, frames), (True, frames[: plan.turned])):
                num = plan.num_each(len(chosen), turned)
                described = f"scenes of {name}{', upside down' if turned else ''}"
                task = progress.add_task(described, total=len(chosen))
                for i, frame in data.read(chosen, turned):
                    yield from scenes(frame, num, np.random.default_rng([options.seed, i, turned]))
                    progress.advance(task)


def fit(
    found: Sequence[Told], options: ScoreOptions, out: Path, console: Console
) -> tuple[ScoreNetwork, Tensor, Tensor]:
    """The network, and mean and deviation (F,) of its inputs."""
    torch.manual_seed(options.seed)
    count = torch.tensor([len(scene.wrong) for scene in found])
    inputs = torch.from_numpy(np.concatenate([scene.inputs for scene in found]))
    wrong = torch.from_numpy(np.concatenate([scene.wrong for scene in found]))
    weight = torch.repeat_interleave(count.float() ** (_POWER - 1.0), count)
    mean, std = inputs.mean(dim=0), inputs.std(dim=0) + 1e-6
    inputs = ((inputs - mean) / std).clamp(-REACH, REACH)
    first = torch.cumsum(count, 0) - count
    network = ScoreNetwork(inputs.shape[1], options)
    optimiser = torch.optim.AdamW(network.parameters(), options.rate, weight_decay=options.decay)
    num_steps = options.num_epochs * math.ceil(len(found) / options.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.rate, total_steps=num_steps + 1, pct_start=0.1)
    generator = torch.Generator().manual_seed(options.seed)
    with progress_bar(console) as progress:
        task = progress.add_task("training", total=num_steps)
        for epoch in range(options.num_epochs):
            losses = []
            for scene in torch.split(torch.randperm(len(found), generator=generator), options.batch):
                which = torch.cat([torch.arange(int(first[s]), int(first[s] + count[s])) for s in scene])
                odds = network(
                    inputs[which], torch.repeat_interleave(torch.arange(len(scene)), count[scene]), len(scene)
                )
                each = functional.binary_cross_entropy_with_logits(odds, wrong[which], reduction="none")
                loss = (each * weight[which]).sum() / weight[which].sum()
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                schedule.step()
                losses.append(float(loss.detach()))
                progress.advance(task)
            if (epoch + 1) % _REPORT == 0 or epoch + 1 == options.num_epochs:
                append_line(out, epoch=epoch + 1, scenes=len(found), loss=number(float(np.mean(losses))))
    return network, mean, std


def _arrays(network: ScoreNetwork, mean: Tensor, std: Tensor, names: Sequence[str]) -> dict[str, Any]:
    """As `gate._scorer.Scorer` reads them, in single precision."""

    def kernel(layer: nn.Linear) -> Tensor:
        return layer.weight.detach().T

    tensors = {
        "mean": mean,
        "std": std,
        "own": kernel(network.own),
        "own_bias": network.own.bias,
        "all": kernel(network.everyone),
        "all_bias": network.everyone.bias,
        "share": kernel(network.share),
        "hidden": kernel(network.hidden),
        "hidden_bias": network.hidden.bias,
        "out": torch.cat([network.out.weight[0], network.out.bias]),
    }
    return {"names": np.array(names), **{name: t.detach().numpy().astype(np.float32) for name, t in tensors.items()}}

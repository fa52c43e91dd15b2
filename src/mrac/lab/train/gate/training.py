"""Trains the classifier of the gate `consensus_learned`: scenes, a small network, one file of a few kilobytes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from mrac.errors import ContractError
from mrac.gate.consensus.classifier import MAX_STD
from mrac.head.kriging import Kriging
from mrac.io.files import remove_temporary, write_whole
from mrac.lab.train.gate.depth_loss import DepthLoss
from mrac.lab.train.gate.draw_scenes import GateScene, ScenePlan
from mrac.lab.train.gate.frames import GateData
from mrac.lab.train.gate.scene_store import SceneStore
from mrac.lab.train.log import LOG, append_line, make_folder, number, progress_bar

FILE: Final = "consensus_learned.npz"
_POWER: Final = 0.5  # a scene of K readings counts as K to this power
_REPORT: Final = 5  # epochs between lines of the log
# How many times a scene with nothing wrong counts in the loss of depth, as most scenes in use are: that halved the
# cost of the gate on such scenes, and left it as it was on others.
_CLEAN: Final = 3.0
_EASY: Final = 0.02  # relative error of depth that is no worse than none
_STEEPEST: Final = 1.0  # norm of the gradient: one scene with a value that repeats must not throw all over


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """The recipe.

    Attributes:
        num_epochs, batch: passes over the scenes, and scenes a step.
        rate: of learning, at its highest.
        decay: of the weights.
        depth_share: what the error of the depth counts for, beside the verdicts.
        own, everyone, hidden: widths of the layers, see `gate.consensus.classifier.Classifier`.
        plan: of the scenes.
        seed: of everything drawn.
    """

    num_epochs: int = 35
    batch: int = 64
    rate: float = 3e-3
    decay: float = 1e-4
    depth_share: float = 1.0
    own: int = 144
    everyone: int = 32
    hidden: int = 72
    plan: ScenePlan = field(default_factory=ScenePlan)
    seed: int = 0


class ScoreNetwork(nn.Module):
    """`gate.consensus.classifier.Classifier` with gradients, for many scenes at once."""

    def __init__(self, num_inputs: int, options: ScoreOptions) -> None:
        super().__init__()
        self.own = nn.Linear(num_inputs, options.own)
        self.everyone = nn.Linear(num_inputs, options.everyone)
        self.share = nn.Linear(options.everyone, options.own, bias=False)
        self.hidden = nn.Linear(options.own, options.hidden)
        self.out = nn.Linear(options.hidden, 2)

    def forward(self, inputs_BKF: Tensor, there_BK: Tensor) -> Tensor:
        """(B, K, 2) log odds of being wrong, and of being heard; `there` is 1 for readings and 0 for what fills up."""
        said = functional.relu(self.everyone(inputs_BKF)) * there_BK[:, :, None]
        mean = said.sum(dim=1, keepdim=True) / there_BK.sum(dim=1)[:, None, None]
        first = functional.relu(self.own(inputs_BKF) + self.share(mean))
        odds: Tensor = self.out(functional.relu(self.hidden(first)))
        return odds


class _Batch:
    """B scenes of about as many readings, filled up to the most of them."""

    def __init__(self, scenes: Sequence[GateScene]) -> None:
        self.inputs = pad_sequence([torch.from_numpy(scene.inputs) for scene in scenes], batch_first=True)
        self.wrong = pad_sequence([torch.from_numpy(scene.wrong) for scene in scenes], batch_first=True)
        self.depths = DepthLoss([scene.target for scene in scenes], Kriging())
        self.there = self.depths.there
        self.weight = self.there * self.there.sum(dim=1, keepdim=True) ** (_POWER - 1.0)
        # Against what the right readings alone would give: else the scenes that are hard for anybody would decide.
        counts = torch.where(self.wrong.any(dim=1), 1.0, _CLEAN)
        self.per_error = counts / (self.depths.abs_rel(1.0 - self.wrong) + _EASY)

    def losses(self, odds_BK2: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy of the verdicts, and error of the depth."""
        each = functional.binary_cross_entropy_with_logits(odds_BK2[:, :, 0], self.wrong, reduction="none")
        depth = self.depths.abs_rel(torch.sigmoid(odds_BK2[:, :, 1])) * self.per_error
        return (each * self.weight).sum() / self.weight.sum(), depth.mean()


def train_scores(options: ScoreOptions, data: GateData, out: Path, console: Console, workers: int = 1) -> Path:
    """Draws the scenes in as many processes, trains, and writes `consensus_learned.npz` and log.jsonl into `out`.

    After a kill the scenes that are there already are not drawn again.

    Raises:
        ContractError: the pack or a network cannot be read, or no scene came of it.
    """
    make_folder(out)
    remove_temporary(out)
    (out / LOG).unlink(missing_ok=True)  # of a killed run the scenes are kept; its training begins anew
    found = list(SceneStore(data, options.plan, options.seed, out).all_scenes(workers, console))
    if not found:
        raise ContractError(f"train: no scene of three readings or more could be drawn from {data.folders[0]}")
    network, mean, std = fit(found, options, out, console)
    file = out / FILE
    write_whole(file, lambda opened: np.savez(opened, **_arrays(network, mean, std, found[0].names)))
    return file


def fit(
    found: Sequence[GateScene], options: ScoreOptions, out: Path, console: Console
) -> tuple[ScoreNetwork, Tensor, Tensor]:
    """The network, and mean and deviation (F,) of its inputs."""
    torch.manual_seed(options.seed)
    every = torch.from_numpy(np.concatenate([scene.inputs for scene in found]))
    mean, std = every.mean(dim=0), every.std(dim=0) + 1e-6
    rng = np.random.default_rng(options.seed)
    shuffled = [found[i] for i in rng.permutation(len(found))]
    by_size = sorted(shuffled, key=lambda scene: scene.wrong.size)  # little is filled up
    batches = [_Batch(by_size[i : i + options.batch]) for i in range(0, len(by_size), options.batch)]
    network = ScoreNetwork(every.shape[1], options)
    optimiser = torch.optim.AdamW(network.parameters(), options.rate, weight_decay=options.decay)
    num_steps = options.num_epochs * len(batches)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.rate, total_steps=num_steps + 1, pct_start=0.1)
    with progress_bar(console) as progress:
        task = progress.add_task("training", total=num_steps)
        for epoch in range(options.num_epochs):
            losses = []
            for i in rng.permutation(len(batches)):
                inputs = ((batches[i].inputs - mean) / std).clamp(-MAX_STD, MAX_STD)
                verdicts, depth = batches[i].losses(network(inputs, batches[i].there))
                optimiser.zero_grad()
                (verdicts + options.depth_share * depth).backward()
                nn.utils.clip_grad_norm_(network.parameters(), _STEEPEST)
                optimiser.step()
                schedule.step()
                losses.append((float(verdicts.detach()), float(depth.detach())))
                progress.advance(task)
            if (epoch + 1) % _REPORT == 0 or epoch + 1 == options.num_epochs:
                means = dict(zip(("loss", "depth"), map(number, np.mean(losses, axis=0).tolist()), strict=True))
                append_line(out, epoch=epoch + 1, scenes=len(found), **means)
    return network, mean, std


def _arrays(network: ScoreNetwork, mean: Tensor, std: Tensor, names: Sequence[str]) -> dict[str, Any]:
    """As `gate.consensus.classifier.Classifier` reads them, in single precision."""

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
        "out": torch.cat([kernel(network.out), network.out.bias[None]]),
    }
    return {"names": np.array(names), **{name: t.detach().numpy().astype(np.float32) for name, t in tensors.items()}}

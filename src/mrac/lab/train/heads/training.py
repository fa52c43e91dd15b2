"""The training loop of the learned heads: AdamW, warm-up, cosine, on any device that `accelerate` knows."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from mrac.errors import ContractError, MissingExtra
from mrac.lab.train.cuda_graph import GraphedStep
from mrac.lab.train.foundation.training import rate_at
from mrac.lab.train.heads.batch import epoch_batches, num_steps
from mrac.lab.train.heads.options import HeadOptions, Precision

if TYPE_CHECKING:
    from accelerate import Accelerator


class TrainingTask(Protocol):
    """What is learnt, and from what; `heads.task` and `scale_map.task` have one each."""

    @property
    def sizes(self) -> list[int]:
        """Frames of each set."""
        ...

    @property
    def weights(self) -> dict[str, float]:
        """Of each loss, by name."""
        ...

    @property
    def about(self) -> dict[str, str]:
        """What the runtime must know of the network, for its file."""
        ...

    def network(self) -> nn.Module:
        """A new one; its random weights come from torch's own generator."""
        ...

    def batch(self, which: int, index: Tensor, num_anchors: int, generator: torch.Generator) -> Any:
        """Frames `index` (B,) of set `which`: a NamedTuple of tensors (B, ...), of shapes that K does not change."""
        ...

    def losses(self, model: nn.Module, batch: Sequence[Tensor]) -> Tensor:
        """(P,) the mean of each loss in the order of `weights`; without waiting for the device, see `GraphedStep`."""
        ...

    def score(self, model: nn.Module) -> dict[str, dict[str, float]]:
        """AbsRel by held-out set and by what is measured."""
        ...


class HeadTraining:
    """The state of a run: network, optimiser, step, losses of the epoch so far.

    Every step draws from a seed of its own, so a run that was killed goes on as if nothing had happened.

    Attributes:
        network: what is trained.
        model: the same as `accelerate` runs it, on one device or many.
        step: of the optimiser, from 0.
        loss_sum: (P,) of the losses of the current epoch's steps.
    """

    def __init__(self, options: HeadOptions, task: TrainingTask, accelerator: "Accelerator") -> None:
        """Starts a run.

        Raises:
            ContractError: the batch cannot be shared evenly among the processes.
        """
        self.options, self.task, self.accelerator = options, task, accelerator
        self.device: torch.device = accelerator.device
        if options.batch % accelerator.num_processes:
            raise ContractError(
                f"train: a batch of {options.batch} cannot be shared evenly by {accelerator.num_processes} processes; "
                "--batch must be a multiple"
            )
        torch.manual_seed(options.seed)
        self.network = task.network()
        self.network.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        optimizer = torch.optim.AdamW(
            self.network.parameters(),
            lr=options.rate,
            weight_decay=options.weight_decay,
            fused=self.device.type == "cuda",  # without it, clipping and scaling would wait for the GPU every step
        )
        self.model, self.optimizer = accelerator.prepare(self.network, optimizer)
        self.loss_names = tuple(task.weights)
        self._weights = torch.tensor(list(task.weights.values()), device=self.device)
        # Among several GPUs the backward pass talks to the others, which no recording of ours foresees.
        alone = accelerator.num_processes == 1
        self._gradients = GraphedStep(self._backward, self.network) if alone else self._backward_anew
        self.step = 0
        self.loss_sum = torch.zeros(len(self.loss_names), dtype=torch.float64, device=self.device)
        # The step at which each epoch starts; sets whose size is no multiple of the batch make epochs uneven.
        self._starts = [num_steps(task.sizes, options.batch, e) for e in range(options.num_epochs + 1)]
        self._dealt: tuple[int, tuple[int, ...], Tensor] = (-1, (), torch.zeros(0))  # an epoch, its sets and frames

    @property
    def num_steps(self) -> int:
        """Of the whole run."""
        return self._starts[-1]

    @property
    def epoch(self) -> int:
        """Epochs completed."""
        return bisect_right(self._starts, self.step) - 1

    @property
    def steps_in_epoch(self) -> int:
        """Steps since the last epoch was completed; 0 right after."""
        return self.step - self._starts[self.epoch]

    def batch(self) -> Any:
        """The minibatch of the current step; this process's share of it."""
        options, epoch = self.options, self.epoch
        if self._dealt[0] != epoch:
            sets, frames = zip(*epoch_batches(self.task.sizes, options.batch, epoch, options.seed), strict=True)
            self._dealt = epoch, sets, torch.from_numpy(np.stack(frames)).to(self.device)
        _, sets, frames_SB = self._dealt
        which, index = sets[self.steps_in_epoch], frames_SB[self.steps_in_epoch]
        num_anchors = int(np.random.default_rng((options.seed, self.step)).choice(options.budgets))
        generator = torch.Generator(self.device).manual_seed(options.seed * 1_000_003 + self.step)
        batch = self.task.batch(which, index, num_anchors, generator)
        rank, num_ranks = self.accelerator.process_index, self.accelerator.num_processes
        # Drawn whole and then shared: the run is the same on any number of GPUs.
        return batch if num_ranks == 1 else type(batch)(*(tensor[rank::num_ranks] for tensor in batch))

    def _backward(self, *batch: Tensor) -> Tensor:
        """(P,) the losses of a minibatch, its gradients added to the network's."""
        with self.accelerator.autocast():
            parts = self.task.losses(self.model, batch)
        self.accelerator.backward((parts * self._weights).sum())
        return parts.detach()

    def _backward_anew(self, *batch: Tensor) -> Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        return self._backward(*batch)

    def advance(self) -> None:
        """One step. Nothing in it waits for the device."""
        if self.steps_in_epoch == 0:
            self.loss_sum.zero_()
        warmup = round(self.options.warmup_epochs * self.num_steps / self.options.num_epochs)
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.rate * rate_at(self.step, self.num_steps, max(warmup, 1))
        self.model.train()
        self.loss_sum += self._gradients(*self.batch())
        self.accelerator.clip_grad_norm_(self.model.parameters(), self.options.clip)
        self.optimizer.step()
        self.step += 1

    def mean_losses(self) -> dict[str, float]:
        """Of the epoch so far, or of the one just completed: each loss, and `total` as they are weighted."""
        begun = self._starts[max(bisect_left(self._starts, self.step) - 1, 0)]
        parts = self.accelerator.reduce(self.loss_sum / max(self.step - begun, 1), "mean")
        total = float((parts * self._weights).sum())
        return {"total": total, **dict(zip(self.loss_names, parts.tolist(), strict=True))}

    def score(self) -> dict[str, dict[str, float]]:
        """AbsRel on what is held out."""
        self.network.eval()
        with self.accelerator.autocast():
            scores = self.task.score(self.network)
        self.network.train()
        return scores


def make_accelerator(device: torch.device, precision: Precision | None) -> "Accelerator":
    """What places the run on `device`, or on all GPUs under `accelerate launch`.

    Args:
        device: a CPU or a GPU.
        precision: of the network's arithmetic; None takes fp16 on a GPU and single precision on a CPU.

    Raises:
        MissingExtra: accelerate is not installed.
        ContractError: half precision on a CPU.
    """
    try:
        from accelerate import Accelerator, AutocastKwargs  # noqa: PLC0415  (a second: only those who train pay)
    except ImportError:
        raise MissingExtra("training", "lab") from None
    precision = precision or ("fp16" if device.type == "cuda" else "no")
    if device.type == "cpu" and precision == "fp16":
        raise ContractError("train: fp16 needs a GPU; --precision no or bf16 is needed on a CPU")
    if device.type == "cuda" and device.index is not None:
        torch.cuda.set_device(device)
    # Without autocast's cache, which would keep a recording's first copy of the weights for all steps to come.
    return Accelerator(
        cpu=device.type == "cpu",
        mixed_precision=precision,
        kwargs_handlers=[AutocastKwargs(cache_enabled=False)],
    )

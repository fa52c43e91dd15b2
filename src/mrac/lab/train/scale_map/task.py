"""What VI-Depth's scale-map learner learns from: inputs drawn beforehand, its loss, and how well it does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from rich.console import Console
from torch import Tensor, nn

from mrac.lab.train.heads.data import HeadFrames
from mrac.lab.train.heads.options import HeadOptions
from mrac.lab.train.heads.task import abs_rel
from mrac.lab.train.scale_map.inputs import DrawOptions, LearnerPool, draw_pool, standardisation_of
from mrac.lab.train.scale_map.loss import fresh_learner, learner_loss, network_input
from mrac.vi_depth.description import describe
from mrac.vi_depth.predictors import Standardisation
from mrac.vi_depth.ranges import WIDE, Ranges

_NUM_DRAWS = 4  # of readings per frame, each also mirrored: made beforehand, which takes longer than learning


@dataclass(frozen=True, eq=False)
class _Pool:
    """A `LearnerPool` on the device, of one set."""

    set_name: str
    aligned_per_m: Tensor
    unit_scale: Tensor
    truth_per_m: Tensor


class LearnerBatch(NamedTuple):
    """(B, h, w) each; see `LearnerPool`."""

    aligned_per_m: Tensor
    unit_scale: Tensor
    truth_per_m: Tensor


@dataclass(frozen=True, eq=False)
class SmlTask:
    """See `heads.training.TrainingTask`.

    Attributes:
        options: of the recipe; the first of its budgets is the number of readings.
        pools: to learn from.
        held: to measure on.
        standardisation: of the learner's inputs.
        ranges: of readings and depth.
    """

    options: HeadOptions
    pools: list[_Pool]
    held: list[_Pool]
    standardisation: Standardisation
    ranges: Ranges

    @classmethod
    def draw(cls, options: HeadOptions, sets: list[HeadFrames], held: list[HeadFrames], ranges: Ranges) -> "SmlTask":
        """Draws the readings and makes VI-Depth's inputs of them, on all cores."""
        num, seed = options.budgets[0], options.seed
        learnt = DrawOptions(num_draws=_NUM_DRAWS, num_readings=num, seed=seed)
        measured = DrawOptions(num_draws=1, num_readings=num, seed=seed + 1)
        pools = [_drawn(frames, learnt, ranges) for frames in sets]
        standardisation = standardisation_of(pools)
        held_pools = [_on_device(frames, _drawn(frames, measured, ranges)) for frames in held]
        on_device = [_on_device(frames, pool) for frames, pool in zip(sets, pools, strict=True)]
        return cls(options, on_device, held_pools, standardisation, ranges)

    @property
    def sizes(self) -> list[int]:
        """Frames of each set."""
        return [len(pool.truth_per_m) for pool in self.pools]

    @property
    def weights(self) -> dict[str, float]:
        """Of the one loss, `learner_loss`."""
        return {"learner": 1.0}

    @property
    def about(self) -> dict[str, str]:
        """What the runtime must know of the learner."""
        return {**describe(self.standardisation, self.ranges), "mrac.recipe": self.options.recipe}

    def network(self) -> nn.Module:
        """A new one."""
        network = fresh_learner()
        # Published, but never run: a network shared by several GPUs would wait for its gradients.
        network.scratch.refinenet4.resConfUnit1.requires_grad_(False)
        return network

    def batch(self, which: int, index: Tensor, num_anchors: int, generator: torch.Generator) -> LearnerBatch:
        """Frames `index` (B,) of set `which`, each with one of its draws, half of them mirrored."""
        pool = self.pools[which]
        num_draws = pool.aligned_per_m.shape[1]
        draw = torch.randint(num_draws, (len(index),), generator=generator, device=index.device)
        mirrored = torch.rand(len(index), 1, 1, generator=generator, device=index.device) < 0.5
        maps = (pool.aligned_per_m[index, draw], pool.unit_scale[index, draw], pool.truth_per_m[index])
        return LearnerBatch(*(torch.where(mirrored, m.flip(-1), m) for m in maps))

    def losses(self, model: nn.Module, batch: Sequence[Tensor]) -> Tensor:
        """(1,) the mean of the loss over a `LearnerBatch`."""
        aligned, unit_scale, truth = batch
        scale = model(network_input(aligned, unit_scale, self.standardisation))
        return learner_loss(scale, aligned, truth).mean()[None]

    @torch.no_grad()
    def score(self, model: nn.Module) -> dict[str, dict[str, float]]:
        """Per set held out, the mean AbsRel of the learner and of the alignment, at the learner's size."""
        scores = {}
        for pool in self.held:
            errors: dict[str, list[Tensor]] = {"head": [], "affine": []}
            parts = (pool.aligned_per_m[:, 0], pool.unit_scale[:, 0], pool.truth_per_m)
            split = (torch.split(part, self.options.batch) for part in parts)
            for aligned, unit_scale, truth in zip(*split, strict=True):
                scale = model(network_input(aligned, unit_scale, self.standardisation))[:, 0].float()
                true_m = torch.where(truth > 0, truth.reciprocal(), 0.0)
                for name, inv_z in (("head", aligned * scale), ("affine", aligned)):
                    errors[name].append(abs_rel(inv_z.clamp(*self.ranges.inv_limits_per_m).reciprocal(), true_m))
            scores[pool.set_name] = {name: float(torch.cat(e).mean()) for name, e in errors.items()}
        return scores


def draw_sml_task(options: HeadOptions, sets: list[HeadFrames], held: list[HeadFrames], *, console: Console) -> SmlTask:
    """The task that `heads.run` trains for recipes of the kind `sml`; says that drawing has begun, as it takes long."""
    console.print(f"drawing {options.budgets[0]} readings per frame ...")
    return SmlTask.draw(options, sets, held, WIDE)


def _drawn(frames: HeadFrames, options: DrawOptions, ranges: Ranges) -> LearnerPool:
    relative, z_m = (list(maps.cpu().numpy()) for maps in (frames.x, frames.frames.z_m))
    return draw_pool(relative, z_m, ranges, options)


def _on_device(frames: HeadFrames, pool: LearnerPool) -> _Pool:
    maps = (pool.aligned_per_m, pool.unit_scale, pool.truth_per_m)
    return _Pool(frames.frames.set_name, *(torch.from_numpy(m).to(frames.x.device) for m in maps))

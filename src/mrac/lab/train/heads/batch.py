"""A minibatch of the learned heads: which frames, which anchors, and the line through them.

Whatever depends on the draw happens here, before the step: the tensors that come out have shapes that the number of
anchors does not change, so the step itself can be recorded once and replayed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mrac.head._rendering import Form
from mrac.lab.train.heads.data import HeadFrames
from mrac.lab.train.heads.line_fit import fit_lines
from mrac.lab.train.heads.residual_network import Line, anchor_channel, correction_unit
from mrac.space import Space


class Minibatch(NamedTuple):
    """All on the device.

    Attributes:
        image: (B, 3, H, W) uint8 RGB.
        x: (B, H, W) relative depth.
        normal: (B, H, W) of `normalise_relative`.
        z_m: (B, H, W) true metres, 0 where not measured.
        mask: (B, H, W) float32, 1 at the anchors.
        anchor: (B, H, W) of `anchor_channel`.
        scale: (B,) float64 of the line.
        shift: (B,) float64 of the line.
        unit: (B,) float64 of `correction_unit`.
    """

    image: Tensor
    x: Tensor
    normal: Tensor
    z_m: Tensor
    mask: Tensor
    anchor: Tensor
    scale: Tensor
    shift: Tensor
    unit: Tensor

    def line(self, space: Space) -> Line:
        """The closed-form fits."""
        return Line(self.scale, self.shift, self.unit, space)


class Draw(NamedTuple):
    """How anchors are drawn and put.

    Attributes:
        num_anchors: K.
        dropout_rate_max: of an image's anchors a share drawn from U(0, this) is dropped, rounded down to whole anchors:
            never more than this share, and two stay.
        space: of the line.
        form: of the anchor channel.
        mirror: whether every other image is mirrored.
    """

    num_anchors: int
    dropout_rate_max: float = 0.0
    space: Space = "depth"
    form: Form = "metres"
    mirror: bool = True


def draw_batch(frames: HeadFrames, index: Tensor, draw: Draw, generator: torch.Generator) -> Minibatch:
    """The frames of `index` (B,) with clean anchors at random measured pixels; frames with fewer than K take all.

    Args:
        frames: of one size.
        index: (B,) into them, on their device.
        draw: how.
        generator: on their device.
    """
    maps = [m[index] for m in (frames.frames.images, frames.x, frames.normal, frames.frames.z_m)]
    if draw.mirror:
        mirrored = torch.rand(len(index), generator=generator, device=index.device) < 0.5
        maps = [torch.where(mirrored.view(-1, *[1] * (m.ndim - 1)), m.flip(-1), m) for m in maps]
    image, x, normal, z_m = maps
    pixel_BK, kept_BK = draw_anchors(z_m, draw, generator)
    x_BK, z_BK = x.flatten(1).gather(1, pixel_BK), z_m.flatten(1).gather(1, pixel_BK)
    scale, shift = fit_lines(x_BK, z_BK, kept_BK, draw.space, frames.native)
    # Worked out at the K anchors and then put in their places: on whole maps it would be the same, a thousand times.
    x_B1K, z_B1K, kept_B1K = x_BK[:, None], torch.where(kept_BK, z_BK, 1.0)[:, None], kept_BK[:, None].float()
    unit = correction_unit(z_B1K, kept_B1K, draw.space, draw.form)
    told_B1K = anchor_channel(Line(scale, shift, unit, draw.space), x_B1K, z_B1K, kept_B1K, draw.form)
    empty = torch.zeros_like(x).flatten(1)
    mask = empty.scatter(1, pixel_BK, kept_B1K[:, 0]).view_as(x)
    anchor = empty.scatter(1, pixel_BK, told_B1K[:, 0]).view_as(x)
    return Minibatch(image, x, normal, z_m, mask, anchor, scale, shift, unit)


def draw_anchors(z_BHW: Tensor, draw: Draw, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(B, K) distinct pixel numbers, row by row, and (B, K) bool, which of them are anchors."""
    known = z_BHW.flatten(1) > 0
    key = torch.rand(known.shape, generator=generator, device=known.device)
    num = min(draw.num_anchors, known.shape[1])
    drawn, pixel_BK = torch.where(known, key, -1.0).topk(num, dim=1)
    kept_BK = drawn >= 0.0
    if draw.dropout_rate_max > 0.0:
        rate_B1 = draw.dropout_rate_max * torch.rand(len(known), 1, generator=generator, device=known.device)
        chance = torch.rand(kept_BK.shape, generator=generator, device=known.device)
        num_B1 = kept_BK.sum(dim=1, keepdim=True)
        # By number, not each with a chance of its own: then the share would often be above the largest.
        dropped_B1 = torch.minimum((rate_B1 * num_B1).long(), (num_B1 - 2).clamp(min=0))
        order_BK = torch.where(kept_BK, chance, 2.0).argsort(dim=1).argsort(dim=1)  # those that are none come last
        kept_BK = kept_BK & (order_BK >= dropped_B1)
    return pixel_BK, kept_BK


def epoch_batches(sizes: Sequence[int], batch: int, epoch: int, seed: int) -> list[tuple[int, NDArray[np.intp]]]:
    """The minibatches of an epoch: which set, and which of its frames.

    Each comes from one set, since sets differ in size, and is full: a set is dealt like a deck of cards, shuffled anew
    each time it runs out, in the middle of a minibatch too. So every frame comes once per epoch, give or take the rest
    that does not fill a minibatch, and none more often than another over the run.

    Args:
        sizes: frames of each set.
        batch: B.
        epoch: from 0.
        seed: of the shuffles.

    Returns:
        Pairs of a set's number and (B,) numbers of its frames, in the order of training.
    """
    batches = []
    for which, size in enumerate(sizes):
        decks: dict[int, NDArray[np.intp]] = {}
        for number in range(_num_batches(size, batch, epoch), _num_batches(size, batch, epoch + 1)):
            place = np.arange(number * batch, (number + 1) * batch)
            for deck in np.unique(place // size).tolist():
                if deck not in decks:
                    decks[deck] = np.random.default_rng((seed, which, deck)).permutation(size)
            batches.append((which, np.array([decks[p // size][p % size] for p in place.tolist()], dtype=np.intp)))
    order = np.random.default_rng((seed, len(sizes), epoch)).permutation(len(batches))
    return [batches[i] for i in order]


def num_steps(sizes: Sequence[int], batch: int, num_epochs: int) -> int:
    """Minibatches of `num_epochs` epochs."""
    return sum(_num_batches(size, batch, num_epochs) for size in sizes)


def _num_batches(size: int, batch: int, num_epochs: int) -> int:
    return -(-size * num_epochs // batch)

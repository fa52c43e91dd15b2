"""Held-out pictures with the teacher's answer, and how far a network is from it."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from mrac.foundation.embedded import network_input
from mrac.lab.data.manifest import Frame
from mrac.lab.train.foundation.losses import shift_invariant_l1
from mrac.lab.train.quantized.teacher import FAR

_MEASURED = 6  # held-out frames of a set


@dataclass(frozen=True)
class Held:
    """A picture that is never learned from, with its teacher's answer."""

    set_name: str
    image: Tensor
    target: Tensor
    weight: Tensor

    def to(self, device: torch.device) -> "Held":
        """The same on a device."""
        return Held(self.set_name, self.image.to(device), self.target.to(device), self.weight.to(device))


def held_pictures(sets: Iterable[list[Frame]], teacher: Callable[[Tensor], tuple[Tensor, Tensor]]) -> list[Held]:
    """Up to six pictures of each set, spread over it, as the network sees them in use, where the teacher gives them.

    Args:
        sets: frames to measure on, per set.
        teacher: takes (1, 3, H, W) images in main memory.
    """
    chosen = [frame for frames in sets for frame in frames[:: -(-len(frames) // _MEASURED)]]
    images = (torch.from_numpy(network_input(frame.image())) for frame in chosen)
    return [Held(frame.row["set"], image, *teacher(image)) for frame, image in zip(chosen, images, strict=True)]


def distances(network: nn.Module, held: list[Held]) -> dict[str, float]:
    """Mean distance to the teacher by set."""

    def one(picture: Held) -> float:
        torch.set_num_threads(1)
        return _distance(network, picture)

    if held[0].image.is_cuda:
        values = [_distance(network, picture) for picture in held]
    else:
        with ThreadPoolExecutor(2) as pool:
            values = list(pool.map(one, held))
    names = dict.fromkeys(picture.set_name for picture in held)
    return {
        name: float(np.mean([v for v, picture in zip(values, held, strict=True) if picture.set_name == name]))
        for name in names
    }


@torch.no_grad()
def _distance(network: nn.Module, picture: Held) -> float:
    """Shift-invariant L1 of log depth, weighted."""
    predicted = network(picture.image)[:, 0]
    return float(shift_invariant_l1(predicted.clamp(max=FAR) - picture.target, picture.weight))

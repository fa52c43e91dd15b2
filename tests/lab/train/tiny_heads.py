"""Trainings of a head small enough for a test: made-up rooms whose relative depth is wrong in a smooth way."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from mrac.lab.train.frames import Frames
from mrac.lab.train.heads.data import HeadFrames, measured_only
from mrac.lab.train.heads.options import HeadOptions, LossWeights
from mrac.lab.train.heads.residual_network import normalise_relative
from tests.lab.train import tiny

SIZE = (48, 64)
# Without `fmp`, whose encoder takes longer to load than these trainings last.
WEIGHTS = LossWeights(fmp=0.0)


def options(num_epochs: int = 2, **changes: Any) -> HeadOptions:
    small = HeadOptions(num_epochs=num_epochs, batch=4, warmup_epochs=0.5, weights=WEIGHTS)
    return replace(small, **changes)


def frames(num: int = 6, set_name: str = "toy", size: tuple[int, int] = SIZE) -> HeadFrames:
    return bent(tiny.frames(num, set_name, size))


def bent(measured: Frames, strength: float = 0.25, seed: int = 0) -> HeadFrames:
    """Relative depth: the truth times a smooth field, different in every frame, in units of its own."""
    generator = torch.Generator().manual_seed(seed)
    sky_m = 50.0
    far = torch.where(measured.z_m.isfinite(), measured.z_m, sky_m)
    measured = measured_only(measured)
    num, h, w = measured.z_m.shape
    coarse = strength * torch.randn(num, 1, 3, 4, generator=generator)
    smooth = functional.interpolate(coarse, size=(h, w), mode="bicubic", align_corners=True)[:, 0]
    x: Tensor = 0.3 * far * torch.exp(smooth)
    return HeadFrames(measured, x, normalise_relative(x), native=True)


def edges(image: Tensor) -> list[Tensor]:
    """An encoder for `fmp` that takes no time to load."""
    generator = torch.Generator().manual_seed(0)
    return [functional.relu(functional.conv2d(image, torch.randn(6, 3, 4, 4, generator=generator), stride=4))]

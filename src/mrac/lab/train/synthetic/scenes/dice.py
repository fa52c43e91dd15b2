"""Seeded draws for a batch of scenes: every tensor starts with the batch axis and no draw waits for the device."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

Numbers = tuple[float, ...] | tuple[tuple[float, ...], ...]


@cache
def constant(values: Numbers, device: torch.device, dtype: torch.dtype = torch.float32) -> Tensor:
    """A small tensor made once per device: copying it afresh would make the host wait for the device each time."""
    return torch.tensor(values, dtype=dtype, device=device)


@dataclass(frozen=True)
class Dice:
    """A source of random tensors of shape (B, ...).

    Attributes:
        generator: The only source of randomness; its device is where the numbers are drawn.
        num_images: B.
        device: Where the tensors are needed.
    """

    generator: torch.Generator
    num_images: int
    device: torch.device

    def rand(self, *shape: int) -> Tensor:
        """Uniform numbers in [0, 1), shape (B, *shape)."""
        return self.plain(self.num_images, *shape)

    def plain(self, *shape: int) -> Tensor:
        """Uniform numbers in [0, 1), of exactly this shape."""
        return torch.rand(shape, generator=self.generator, device=self.generator.device).to(self.device)

    def normal(self, *shape: int) -> Tensor:
        """Standard normal numbers, shape (B, *shape)."""
        shape = (self.num_images, *shape)
        return torch.randn(shape, generator=self.generator, device=self.generator.device).to(self.device)

    def between(self, low: float | Tensor, high: float | Tensor, *shape: int) -> Tensor:
        """Uniform numbers in [low, high), shape (B, *shape)."""
        return low + (high - low) * self.rand(*shape)

    def chance(self, probability: float, *shape: int) -> Tensor:
        """True with this probability, shape (B, *shape)."""
        return self.rand(*shape) < probability

    def sign(self, *shape: int) -> Tensor:
        """−1 or 1, shape (B, *shape)."""
        return torch.where(self.chance(0.5, *shape), 1.0, -1.0)

    def one_of(self, options: Sequence[int], *shape: int) -> Tensor:
        """Integers drawn from `options`, repeated entries more often, shape (B, *shape)."""
        index = (self.rand(*shape) * len(options)).long()
        return self.integers(*options)[index]

    def constant(self, values: Numbers) -> Tensor:
        """These numbers as a float32 tensor on the batch's device."""
        return constant(values, self.device)

    def integers(self, *values: int) -> Tensor:
        """These integers as an int64 tensor on the batch's device."""
        return constant(tuple(int(value) for value in values), self.device, torch.int64)

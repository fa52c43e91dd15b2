"""Seeded draws for a batch of scenes: every tensor starts with the batch axis and no draw waits for the device."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


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
        return torch.tensor(options, device=self.device)[index]

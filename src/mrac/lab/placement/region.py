"""One part of the image only, as a sensor with a narrow field of view leaves it: a corner, a half."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.errors import ContractError
from mrac.lab.placement.base import AnchorPlacement, Candidates
from mrac.registry import check_numbers


@dataclass(frozen=True)
class Region(AnchorPlacement):
    """Random pixels of a rectangle; where it has too few valid ones, of those nearest to it.

    Attributes:
        left, top, right, bottom: its sides, as shares of the image's width and height; by default the upper left
            quarter.
    """

    left: float = 0.0
    top: float = 0.0
    right: float = 0.5
    bottom: float = 0.5

    def __post_init__(self) -> None:
        check_numbers(self, 0.0, 1.0)
        if not (self.left < self.right and self.top < self.bottom):
            raise ContractError(f"placement region: {self} is empty; left < right and top < bottom are needed")

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `AnchorPlacement`."""
        H, W = candidates.valid.shape
        shuffled = rng.permutation(candidates.pixels)
        v, u = np.divmod(shuffled, W)
        across = _outside(u + 0.5, self.left * W, self.right * W)
        down = _outside(v + 0.5, self.top * H, self.bottom * H)
        return shuffled[np.argsort(np.hypot(across, down), kind="stable")[:count]]


def _outside(at: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """How far positions along one axis lie outside an interval, in pixels."""
    return np.maximum(np.maximum(low - at, at - high), 0.0)


IMPLEMENTATION = Region

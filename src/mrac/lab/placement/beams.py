"""Horizontal scan lines, as a LiDAR of few beams leaves them; one beam is a 2-D LiDAR."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.lab.placement.base import AnchorPlacement, Candidates
from mrac.registry import check_numbers


@dataclass(frozen=True)
class Beams(AnchorPlacement):
    """Pixels of rows that divide the valid part of the image evenly; where these have too few, of rows beside them.

    Attributes:
        num: of rows; one lies in the middle.
    """

    num: int = 16

    def __post_init__(self) -> None:
        check_numbers(self, 1, 10_000)

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `AnchorPlacement`."""
        shuffled = rng.permutation(candidates.pixels)
        row = shuffled // candidates.valid.shape[1]
        top, height = int(row.min()), int(row.max() - row.min()) + 1
        beams = top + np.floor((np.arange(self.num) + 0.5) * height / self.num)
        after = np.searchsorted(beams, row)
        below, above = beams[np.minimum(after, self.num - 1)], beams[np.maximum(after - 1, 0)]
        off = np.minimum(np.abs(below - row), np.abs(row - above))
        return shuffled[np.argsort(off, kind="stable")[:count]]


IMPLEMENTATION = Beams

"""One anchor in every cell of a grid of about K cells, at a random valid pixel of it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.lab.placement.base import AnchorPlacement, Candidates


@dataclass(frozen=True)
class Stratified(AnchorPlacement):
    """A grid of square-ish cells, at least K, over the rectangle that the valid pixels span.

    Cells are visited in random order, each giving a random valid pixel, round after round until there are K: cells
    without a valid pixel cost no anchor.
    """

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `AnchorPlacement`."""
        shuffled = rng.permutation(candidates.pixels)
        v, u = np.divmod(shuffled, candidates.valid.shape[1])
        top, left = int(v.min()), int(u.min())
        height, width = int(v.max()) - top + 1, int(u.max()) - left + 1
        num_columns = min(math.ceil(math.sqrt(count * width / height)), width, count)
        num_rows = math.ceil(count / num_columns)
        cell = (v - top) * num_rows // height * num_columns + (u - left) * num_columns // width
        # Pixels of a cell side by side, still shuffled within it: the place in such a run is the round.
        order = np.argsort(cell, kind="stable")
        starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
        lengths = np.diff(starts, append=order.size)
        round_of = np.arange(order.size) - np.repeat(starts, lengths)
        turn = np.repeat(rng.permutation(starts.size), lengths)
        return shuffled[order[np.lexsort((turn, round_of))[:count]]]


IMPLEMENTATION = Stratified

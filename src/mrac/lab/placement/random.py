"""Every valid pixel is as likely as any other: the paper's default."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.lab.placement.base import AnchorPlacement, Candidates


@dataclass(frozen=True)
class Random(AnchorPlacement):
    """Uniform over valid pixels, without replacement."""

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `AnchorPlacement`."""
        return candidates.pixels[rng.choice(candidates.pixels.size, count, replace=False)]


IMPLEMENTATION = Random

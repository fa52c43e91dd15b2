"""Every valid pixel is as likely as any other: the paper's default."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray
from mrac.lab.placement._base import Placement


@dataclass(frozen=True)
class Random(Placement):
    """Uniform over valid pixels, without replacement."""

    def choose(
        self,
        valid: BoolArray,
        pixels: NDArray[np.intp],
        count: int,
        rng: np.random.Generator,
        uncertainty: FloatArray | None,
    ) -> NDArray[np.intp]:
        """See `Placement`."""
        return pixels[rng.choice(pixels.size, count, replace=False)]


IMPLEMENTATION = Random

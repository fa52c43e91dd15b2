"""Where a first prediction is least certain: the K valid pixels of the largest given uncertainty."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.lab.placement._base import Placement


@dataclass(frozen=True)
class UncertaintyActive(Placement):
    """The paper's strategy taken literally: anchors may crowd. Equal pixels in random order, NaN last."""

    def choose(
        self,
        valid: BoolArray,
        pixels: NDArray[np.intp],
        count: int,
        rng: np.random.Generator,
        uncertainty: FloatArray | None,
    ) -> NDArray[np.intp]:
        """See `Placement`."""
        if uncertainty is None:
            raise ContractError(
                "placement uncertainty_active: no uncertainty arrived; an (H, W) map is needed, such as the sigma_m of "
                "a prediction without these anchors"
            )
        shuffled = rng.permutation(pixels)
        values = uncertainty.reshape(-1)[shuffled]
        descending = np.where(np.isnan(values), np.inf, -values)
        return shuffled[np.argsort(descending, kind="stable")[:count]]


IMPLEMENTATION = UncertaintyActive

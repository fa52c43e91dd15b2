"""Where a first prediction is least certain: the K valid pixels of the largest given uncertainty."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.errors import ContractError
from mrac.lab.placement.base import AnchorPlacement, Candidates


@dataclass(frozen=True)
class UncertaintyActive(AnchorPlacement):
    """The paper's strategy taken literally: anchors may cluster. Equal pixels in random order, NaN last."""

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `AnchorPlacement`."""
        if candidates.uncertainty is None:
            raise ContractError(
                "placement uncertainty_active: no uncertainty arrived; an (H, W) map is needed, such as the sigma_m of "
                "a prediction without these anchors"
            )
        shuffled = rng.permutation(candidates.pixels)
        values = candidates.uncertainty.reshape(-1)[shuffled]
        descending = np.where(np.isnan(values), np.inf, -values)
        return shuffled[np.argsort(descending, kind="stable")[:count]]


IMPLEMENTATION = UncertaintyActive

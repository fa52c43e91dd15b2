"""Near surfaces only, as a time-of-flight sensor of short range leaves them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.errors import ContractError
from mrac.lab.placement.base import AnchorPlacement, Candidates
from mrac.registry import check_numbers


@dataclass(frozen=True)
class RangeLimited(AnchorPlacement):
    """Random pixels nearer than a quantile of the image's depth; where these are too few, the nearest of the others.

    Attributes:
        quantile: of the depth at valid pixels; the range of the sensor.
    """

    quantile: float = 0.5

    def __post_init__(self) -> None:
        check_numbers(self, 0.0, 1.0)

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `AnchorPlacement`."""
        if candidates.depth_m is None:
            raise ContractError("placement range_limited: no depth arrived; (H, W) metres are needed")
        shuffled = rng.permutation(candidates.pixels)
        depth_m = candidates.depth_m.reshape(-1)[shuffled]
        beyond = np.maximum(depth_m - np.quantile(depth_m, self.quantile), 0.0)
        return shuffled[np.argsort(beyond, kind="stable")[:count]]


IMPLEMENTATION = RangeLimited

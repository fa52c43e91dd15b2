"""Multipath and specular returns: readings pulled towards the sensor, z · U(0.2, 0.6), never under 0.1 m."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.outliers.base import Outliers, Truth
from mrac.registry import check_numbers


@dataclass(frozen=True, kw_only=True)
class Near(Outliers):
    """Present, and too near.

    Attributes:
        low: the least factor.
        high: the largest factor.
        floor_m: no reading is under this.
    """

    low: float = 0.2
    high: float = 0.6
    floor_m: float = 0.1

    def __post_init__(self) -> None:
        check_numbers(self, 0.0, 1.0)
        if self.low > self.high:
            raise ContractError(f"outliers/near: low = {self.low:g} is over high = {self.high:g}")

    def replace(self, truth: Truth, rng: np.random.Generator) -> FloatArray:
        """See `Outliers`."""
        return np.maximum(truth.z_m * rng.uniform(self.low, self.high, truth.z_m.size), self.floor_m)


IMPLEMENTATION = Near

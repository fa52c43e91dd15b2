"""Ordinary noise, N(0, σ) in metres, never under 0.1 m: no outliers, but what they must be told from."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.outliers.base import Outliers, Truth
from mrac.registry import check_numbers


@dataclass(frozen=True, kw_only=True)
class Gaussian(Outliers):
    """The paper's noise study disturbs every anchor: fraction 1, sigma_m from 0.05 to 0.5.

    Attributes:
        sigma_m: standard deviation.
        floor_m: no disturbed reading is under this.
    """

    sigma_m: float = 0.1
    floor_m: float = 0.1

    def __post_init__(self) -> None:
        check_numbers(self, 0.0, 1e4)

    def replace(self, truth: Truth, rng: np.random.Generator) -> FloatArray:
        """See `Outliers`."""
        return np.maximum(truth.z_m + rng.normal(0.0, self.sigma_m, truth.z_m.size), self.floor_m)


IMPLEMENTATION = Gaussian

"""Spurious returns: any depth between the nearest and the farthest of the image, U(min, max)."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.outliers.base import Outliers, Truth


@dataclass(frozen=True, kw_only=True)
class Uniform(Outliers):
    """Present, and unrelated to the scene at that pixel."""

    def replace(self, truth: Truth, rng: np.random.Generator) -> FloatArray:
        """See `Outliers`; without any truth in the image the range is that of the readings."""
        valid = truth.truth_m[np.isfinite(truth.truth_m)]
        depths = valid if valid.size else truth.z_m
        low, high = (float(depths.min()), float(depths.max())) if depths.size else (0.0, 0.0)
        return rng.uniform(low, high, truth.z_m.size)


IMPLEMENTATION = Uniform

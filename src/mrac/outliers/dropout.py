"""Saturation and no return: the same depth for all, the sensor's maximum range."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.outliers.base import Outliers, Truth


@dataclass(frozen=True, kw_only=True)
class Dropout(Outliers):
    """Present, and correlated: 10 m for the indoor sensors, 80 m for KITTI and DIODE, as the data set's rules say."""

    def replace(self, truth: Truth, rng: np.random.Generator) -> FloatArray:
        """See `Outliers`."""
        return np.full(truth.z_m.size, truth.max_range_m, np.float64)


IMPLEMENTATION = Dropout

"""Student's distribution: around what its neighbours say, a right reading strays more often than a Gaussian would."""

import math

import numpy as np

from mrac.conventions import FloatArray


def log_density(error: FloatArray, var: FloatArray, tail: float) -> FloatArray:
    """Of `tail` > 2 degrees of freedom, scaled to have the variance `var`; all broadcast."""
    scale2 = var * ((tail - 2.0) / tail)
    constant = math.lgamma(0.5 * (tail + 1.0)) - math.lgamma(0.5 * tail) - 0.5 * math.log(math.pi * tail)
    return np.asarray(constant - 0.5 * np.log(scale2) - 0.5 * (tail + 1.0) * np.log1p(error**2 / (tail * scale2)))

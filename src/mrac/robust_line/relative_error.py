"""Unit that turns a residual into a relative error of depth, so that one threshold serves any scene and space."""

import numpy as np

from mrac.conventions import FloatArray
from mrac.space import Space


def error_unit(y: FloatArray, space: Space) -> FloatArray:
    """(K,) the residual of y that is, to first order, 100 % of the reading; y (K,) in `space`."""
    return np.ones(y.size) if space == "log_depth" else np.abs(y)

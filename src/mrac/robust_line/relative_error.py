"""Relative errors of depth: the unit of a residual, and estimators that select inliers by a threshold on it.

One threshold then serves any scene and space.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.space import Space


def error_unit(y: FloatArray, space: Space) -> FloatArray:
    """(K,) the residual of y that is, to first order, 100 % of the reading; y (K,) in `space`."""
    return np.ones(y.size) if space == "log_depth" else np.abs(y)


@dataclass(frozen=True, kw_only=True)
class InlierSelection(ABC):
    """Options of an estimator that selects inliers; its gate and its fit share them.

    Attributes:
        threshold: the largest relative error of an inlier. A line through a network's relative depth is 10 % off.
    """

    threshold: float = 0.2

    @abstractmethod
    def inlier_set(self, x: FloatArray, y: FloatArray, unit: FloatArray) -> BoolArray:
        """(K,) bool with at least two True at different x.

        Args:
            x: (K,), K >= 3, not all equal.
            y: (K,).
            unit: (K,) > 0, divides the residuals.
        """

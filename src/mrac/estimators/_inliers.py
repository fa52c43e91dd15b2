"""Estimators that select inliers by a threshold, and fit them by least squares."""

from abc import abstractmethod

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.estimators._line import FittedLine, RobustLine
from mrac.robust_line.least_squares import least_squares
from mrac.robust_line.relative_error import InlierSelection, error_unit
from mrac.types import is_constant


def constant(z: FloatArray) -> FittedLine:
    """The median of z (n,), as the gates and fits have it where x does not vary; no point is judged."""
    return FittedLine(0.0, float(np.median(z)), np.ones(z.size, np.bool_))


def least_squares_line(x: FloatArray, z: FloatArray, unit: FloatArray | None, used: BoolArray) -> tuple[float, float]:
    """Slope and intercept of the least-squares line through some points, residuals divided by `unit` (n,)."""
    line = least_squares(x, z, np.ones(x.size) if unit is None else unit**-2, used)
    return line.scale, line.shift


class InlierLine(RobustLine):
    """The least-squares line through the points that an estimator selects; inliers are those near that line."""

    threshold: float
    relative: bool

    @abstractmethod
    def _selection(self) -> InlierSelection:
        """The estimator, its options checked."""

    def _fit_line(self, x: FloatArray, z: FloatArray) -> FittedLine:
        selection = self._selection()
        if self.relative and not (z > 0.0).all():
            raise ContractError(f"{type(self).__name__}: y <= 0 arrived; with relative=True y > 0 is needed")
        if is_constant(x):
            return constant(z)
        unit = error_unit(z, "depth" if self.relative else "log_depth")
        slope, intercept = least_squares_line(x, z, unit, selection.inlier_set(x, z, unit))
        return FittedLine(slope, intercept, np.abs(z - (slope * x + intercept)) / unit <= selection.threshold)

"""Least squares on the inliers that an estimator selects by relative error."""

from dataclasses import dataclass

from mrac.conventions import FloatArray
from mrac.fit.base import Fit
from mrac.robust_line.least_squares import least_squares
from mrac.robust_line.relative_error import InlierSelection, error_unit
from mrac.types import FitResult, Samples


@dataclass(frozen=True, kw_only=True)
class InlierFit(InlierSelection, Fit):
    """Minimises relative errors: weights are divided by the square of the reading, in the space of the fit."""

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`."""
        unit = error_unit(y, samples.space)
        return least_squares(x, y, samples.weight / unit**2, self.inlier_set(x, y, unit))

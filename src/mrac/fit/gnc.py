"""Graduated non-convexity (Yang et al. 2020): least squares on the inliers of truncated least squares."""

from dataclasses import dataclass

from mrac.conventions import FloatArray
from mrac.fit.base import Fit
from mrac.robust_line.gnc import GncOptions, inliers
from mrac.robust_line.least_squares import least_squares
from mrac.robust_line.relative_error import error_unit
from mrac.types import FitResult, Samples


@dataclass(frozen=True, kw_only=True)
class Gnc(GncOptions, Fit):
    """An anchor within `threshold` of the line has its squared error as loss, one beyond it a constant."""

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`."""
        unit = error_unit(y, samples.space)
        return least_squares(x, y, samples.weight / unit**2, inliers(x, y, unit, self))


IMPLEMENTATION = Gnc

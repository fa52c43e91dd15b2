"""MSAC (Torr and Zisserman 2000): least squares on the supporters of the best line through two anchors."""

from dataclasses import dataclass

from mrac.conventions import FloatArray
from mrac.fit.base import Fit
from mrac.robust_line.least_squares import least_squares
from mrac.robust_line.msac import MsacOptions, supporters
from mrac.robust_line.relative_error import error_unit
from mrac.types import FitResult, Samples


@dataclass(frozen=True, kw_only=True)
class Msac(MsacOptions, Fit):
    """Least squares on the inliers of the line through two anchors with the least truncated squared error."""

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`."""
        unit = error_unit(y, samples.space)
        return least_squares(x, y, samples.weight / unit**2, supporters(x, y, unit, self))


IMPLEMENTATION = Msac

"""Ordinary least squares in closed form (the paper's CFA, eq. 1)."""

from dataclasses import dataclass

from mrac.conventions import FloatArray
from mrac.fit.base import Fit
from mrac.robust_line.least_squares import least_squares
from mrac.types import FitResult, Samples


@dataclass(frozen=True, kw_only=True)
class Ols(Fit):
    """Maximum likelihood under Gaussian noise; breakdown point zero: one gross outlier moves it arbitrarily far."""

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`."""
        return least_squares(x, y, samples.weight)


IMPLEMENTATION = Ols

"""Huber's M-estimator by iteratively re-weighted least squares, scale from the median absolute deviation."""

from dataclasses import dataclass, replace

import numpy as np

from mrac.conventions import FloatArray
from mrac.fit.base import Fit
from mrac.registry import check_numbers
from mrac.robust_line.least_squares import least_squares, line_covariance
from mrac.robust_line.theil_sen import MAD_TO_SIGMA
from mrac.types import FitResult, Samples


@dataclass(frozen=True, kw_only=True)
class Huber(Fit):
    """Quadratic near the line, linear beyond `threshold` deviations: an outlier's influence is bounded, not zero.

    Attributes:
        threshold: in standard deviations; 1.345 keeps 95 % efficiency under Gaussian noise.
        max_rounds: of re-weighting; it ends earlier when the line moves by less than 1e-10 of the spread of y.
    """

    threshold: float = 1.345
    max_rounds: int = 100

    def __post_init__(self) -> None:
        check_numbers(self, 1e-3, 1e9, only=("threshold",))
        check_numbers(self, 1, 1e6, only=("max_rounds",))

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`; `status` is `not_converged` after `max_rounds`."""
        fit = least_squares(x, y, samples.weight)
        tolerance = 1e-10 * float(np.ptp(y))
        scale = 0.0
        for _ in range(self.max_rounds):
            residual = np.abs(y - fit(x))
            scale = MAD_TO_SIGMA * float(np.median(residual))
            if scale <= tolerance:  # more than half lie on the line: it is found
                return fit
            weight = samples.weight * np.minimum(1.0, self.threshold * scale / np.maximum(residual, scale * 1e-9))
            last, fit = fit, least_squares(x, y, weight)
            if np.abs(fit(x) - last(x)).max() <= tolerance:
                return self._with_covariance(fit, x, y, scale)
        return replace(self._with_covariance(fit, x, y, scale), status="not_converged")

    def _with_covariance(self, fit: FitResult, x: FloatArray, y: FloatArray, scale: float) -> FitResult:
        """Huber's asymptotic variance, E ψ² / (E ψ')²: re-weighted least squares alone would be overconfident."""
        residual = np.abs(y - fit(x))
        bounded = np.minimum(residual, self.threshold * scale)
        inside = float(np.mean(residual <= self.threshold * scale))
        deviation = float(np.sqrt(bounded @ bounded / max(x.size - 2, 1))) / max(inside, 1.0 / x.size)
        return replace(fit, covariance=line_covariance(x, np.ones(x.size), deviation, deviation), sigma=scale)


IMPLEMENTATION = Huber

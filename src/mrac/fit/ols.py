"""Ordinary least squares in closed form (the paper's CFA, eq. 1)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.fit.base import Fit, line_covariance
from mrac.types import FitResult, Samples


def least_squares(x: FloatArray, y: FloatArray, weight: FloatArray, used: BoolArray | None = None) -> FitResult:
    """The weighted least-squares line through three or more points whose (K,) `x` are not all equal.

    Args:
        x: (K,).
        y: (K,).
        weight: (K,) >= 0.
        used: (K,) restricts the line to some points; at least two with different x.
    """
    used = np.ones(x.size, np.bool_) if used is None else used
    xs, ys, ws = x[used], y[used], weight[used]
    ws = ws / ws.mean()  # only their ratios mean anything
    total = ws.sum()
    # Centred sums: relative fields run into the thousands and raw second moments would cancel.
    x_mean, y_mean = ws @ xs / total, ws @ ys / total
    dx = xs - x_mean
    scale = float((ws * dx) @ (ys - y_mean) / (ws @ (dx * dx)))
    shift = float(y_mean - scale * x_mean)
    residual = ys - (scale * xs + shift)
    sigma = float(np.sqrt(ws @ residual**2 / max(xs.size - 2, 1)))
    return FitResult(scale, shift, line_covariance(xs, ws, sigma, sigma), sigma, used)


@dataclass(frozen=True, kw_only=True)
class Ols(Fit):
    """Maximum likelihood under Gaussian noise; breakdown point zero: one gross outlier moves it as far as it likes."""

    robust: ClassVar[bool] = False

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`."""
        return least_squares(x, y, samples.weight)


IMPLEMENTATION = Ols

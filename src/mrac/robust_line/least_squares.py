"""Weighted least-squares line y = scale · x + shift and the covariance of its two parameters."""

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.types import FitResult


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
    ws = ws / ws.mean()  # only the ratios of the weights matter
    total = ws.sum()
    # Centred sums: relative fields run into the thousands and raw second moments would cancel.
    x_mean, y_mean = ws @ xs / total, ws @ ys / total
    dx = xs - x_mean
    scale = float((ws * dx) @ (ys - y_mean) / (ws @ (dx * dx)))
    shift = float(y_mean - scale * x_mean)
    residual = ys - (scale * xs + shift)
    sigma = float(np.sqrt(ws @ residual**2 / max(xs.size - 2, 1)))
    return FitResult(scale, shift, line_covariance(xs, ws, sigma, sigma), sigma, used)


def line_covariance(x: FloatArray, weight: FloatArray, slope_sigma: float, level_sigma: float) -> FloatArray:
    """(2, 2) covariance of (scale, shift) of a line through K points.

    Args:
        x: (K,), not all equal.
        weight: (K,) of mean 1.
        slope_sigma: standard deviation of y around the line, over the root of the slope estimator's efficiency.
        level_sigma: the same for the line's height at the mean of x; both are equal for least squares.
    """
    total = weight.sum()
    centre = weight @ x / total
    var_scale = slope_sigma**2 / (weight @ (x - centre) ** 2)
    var_shift = level_sigma**2 / total + centre**2 * var_scale
    return np.array([[var_scale, -centre * var_scale], [-centre * var_scale, var_shift]])

"""Closed-form affine fit applied to every pixel (CFA, the paper's eq. 1)."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.head.base import Head, HeadResult, Scene
from mrac.runtime.parallel import row_bands
from mrac.space import Space, bounded_sigma, depth_std, from_space
from mrac.types import FitResult


@dataclass(frozen=True, kw_only=True)
class Affine(Head):
    """D = from_space(scale · x + shift), with the fit's own residual and parameter variance as uncertainty."""

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; without a relative field the depth is constant and the status `no_relative_depth`."""
        (H, W), x = scene.shape, scene.relative
        depth_m, sigma_m = np.empty((2, H, W), np.float32)
        for rows in row_bands(0, H):
            x_rows = np.zeros(depth_m[rows].shape) if x is None else x[rows].astype(np.float64)
            depth_m[rows], sigma_m[rows] = _line(scene.fit, scene.samples.space, x_rows)
        status = "no_relative_depth" if x is None and len(scene.samples) else "ok"
        return HeadResult(depth_m, sigma_m, status)


def _line(fit: FitResult, space: Space, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Depth and its standard deviation, metres, at relative values `x` of any shape, float64."""
    depth_m = from_space(fit(x), space)
    return depth_m, bounded_sigma(depth_m, depth_std(depth_m, line_std(fit, x), space))


def line_std(fit: FitResult, x: FloatArray) -> FloatArray:
    """Standard deviation of y at relative values `x` of any shape, float64: of the parameters and of the residual."""
    (var_scale, cov), (_, var_shift) = fit.covariance
    return np.asarray(np.sqrt(np.maximum(var_scale * x * x + 2.0 * cov * x + var_shift, 0.0) + fit.sigma**2))


IMPLEMENTATION = Affine

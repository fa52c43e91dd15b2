"""The closed-form fit itself, applied to every pixel (CFA, the paper's eq. 1)."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.head.base import Head, HeadResult, Scene
from mrac.space import Space, depth_std, from_space
from mrac.types import FitResult

# What a standard deviation may be, as a share of the depth: an exact fit through two anchors has no residual, and a
# line that leaves the valid range knows nothing; neither may end as zero or as infinity.
SIGMA_SHARE = (1e-3, 10.0)
_ROWS = 64


@dataclass(frozen=True, kw_only=True)
class Affine(Head):
    """D = from_space(scale · x + shift), with the fit's own residual and parameter variance as uncertainty."""

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; with no relative field, the depth is constant and the status says so."""
        (H, W), x = scene.shape, scene.relative
        depth_m, sigma_m = np.empty((2, H, W), np.float32)
        # Double precision for a few rows only: whole maps of it would be 400 MB each at 50 megapixels.
        for top in range(0, H, _ROWS):
            rows = slice(top, min(top + _ROWS, H))
            x_rows = np.zeros(depth_m[rows].shape) if x is None else x[rows].astype(np.float64)
            depth_m[rows], sigma_m[rows] = _line(scene.fit, scene.samples.space, x_rows)
        status = "no_relative_depth" if x is None and len(scene.samples) else "ok"
        return HeadResult(depth_m, sigma_m, status)


def _line(fit: FitResult, space: Space, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Depth and its deviation, metres, at relative values `x` of any shape, float64."""
    depth_m = from_space(fit(x), space)
    low, high = SIGMA_SHARE
    return depth_m, np.clip(depth_std(depth_m, line_std(fit, x), space), low * depth_m, high * depth_m)


def line_std(fit: FitResult, x: FloatArray) -> FloatArray:
    """Standard deviation of y at relative values `x` of any shape, float64: of the line, and of depth around it."""
    (var_scale, cov), (_, var_shift) = fit.covariance
    return np.asarray(np.sqrt(np.maximum(var_scale * x * x + 2.0 * cov * x + var_shift, 0.0) + fit.sigma**2))


IMPLEMENTATION = Affine

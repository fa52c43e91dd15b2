"""The closed-form fit itself, applied to every pixel (CFA, the paper's eq. 1)."""

from dataclasses import dataclass

import numpy as np

from mrac.head._base import Head, HeadResult, Scene
from mrac.space import depth_std, from_space

# What a standard deviation may be, as a share of the depth: an exact fit through two anchors has no residual, and a
# line that leaves the valid range knows nothing; neither may end as zero or as infinity.
SIGMA_SHARE = (1e-3, 10.0)


@dataclass(frozen=True, kw_only=True)
class Affine(Head):
    """D = from_space(scale · x + shift), with the fit's own residual and parameter variance as uncertainty."""

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; with no relative field, the depth is constant and the status says so."""
        fit, space = scene.fit, scene.samples.space
        x = np.zeros(scene.shape) if scene.relative is None else scene.relative.astype(np.float64)
        depth_m = from_space(fit(x), space)
        (var_scale, cov), (_, var_shift) = fit.covariance
        y_std = np.sqrt(np.maximum(var_scale * x * x + 2.0 * cov * x + var_shift, 0.0) + fit.sigma**2)
        low, high = SIGMA_SHARE
        sigma_m = np.clip(depth_std(depth_m, y_std, space), low * depth_m, high * depth_m)
        status = "no_relative_depth" if scene.relative is None and len(scene.samples) else "ok"
        return HeadResult(depth_m.astype(np.float32), sigma_m.astype(np.float32), status)


IMPLEMENTATION = Affine

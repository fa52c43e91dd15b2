"""Fit times an interpolated scale map: VI-Depth's scale map (Wofk et al. 2023) without the network that smooths it."""

from dataclasses import dataclass

import numpy as np

from mrac.errors import ContractError
from mrac.head._interpolation import inliers_on_pixels, linear_over_triangles
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.registry import check_numbers


@dataclass(frozen=True, kw_only=True)
class Scaffold(Head):
    """Inverse depth of the fit times the scale that corrects it at the anchors, linear on the triangles between them.

    Outside the anchors' convex hull the scale is 1. The relative deviation is the fit's. VI-Depth fits by least squares
    in inverse depth; this takes any fit.

    Attributes:
        min_m: the fit's depth is clamped to this before the anchors are compared with it.
        max_m: the same, from above: where the fit reaches infinity the ratio would be infinite too.
    """

    min_m: float = 0.1
    max_m: float = 100.0

    def __post_init__(self) -> None:
        check_numbers(self, 1e-3, 1e4)
        if not self.min_m < self.max_m:
            raise ContractError(f"head/scaffold: min_m = {self.min_m:g} must be below max_m = {self.max_m:g}")

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; without a triangle it is the fit, with the status `too_few_anchors` or `collinear_anchors`."""
        line = Affine()(scene)
        readings = inliers_on_pixels(scene)
        if not len(readings):
            return line
        fitted_m = np.clip(line.depth_m, np.float32(self.min_m), np.float32(self.max_m))
        ratio = np.ones(scene.shape, np.float32)
        status = linear_over_triangles(readings, readings.inv_z_per_m * readings.at(fitted_m), ratio)
        if status != "ok":
            return HeadResult(line.depth_m, line.sigma_m, line.status if line.status != "ok" else status)
        depth_m = fitted_m / ratio
        return HeadResult(depth_m, line.sigma_m * (depth_m / line.depth_m))


IMPLEMENTATION = Scaffold

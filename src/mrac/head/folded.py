"""Absolute value of the fit in inverse depth: depth = 1 / (|y| + 0.001), as Marsal et al. (IROS 2025) rescale."""

from dataclasses import dataclass

import numpy as np

from mrac.head.affine import Affine, line_std
from mrac.head.base import Head, HeadResult, Scene
from mrac.registry import check_numbers
from mrac.runtime.parallel import row_bands
from mrac.space import MIN_DEPTH_M, bounded_sigma, depth_std


@dataclass(frozen=True, kw_only=True)
class Folded(Head):
    """Negative inverse depth is mirrored (abs) instead of clipped to the far end; in other spaces it is `affine`.

    Attributes:
        floor_per_m: added to inverse depth everywhere: nothing is farther than 1 km, and 10 m are 1 % nearer.
    """

    floor_per_m: float = 1e-3

    def __post_init__(self) -> None:
        check_numbers(self, 1e-4, 1.0)

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; without a relative field, what `affine` gives."""
        if scene.relative is None or scene.samples.space != "inverse_depth":
            return Affine()(scene)
        depth_m, sigma_m = np.empty((2, *scene.shape), np.float32)
        for rows in row_bands(0, scene.shape[0]):
            x = scene.relative[rows].astype(np.float64)
            depth_m[rows] = np.maximum(1.0 / (np.abs(scene.fit(x)) + self.floor_per_m), MIN_DEPTH_M)
            std_m = depth_std(depth_m[rows], line_std(scene.fit, x), "inverse_depth")
            sigma_m[rows] = bounded_sigma(depth_m[rows], std_m)
        return HeadResult(depth_m, sigma_m)


IMPLEMENTATION = Folded

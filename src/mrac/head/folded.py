"""The fit in inverse depth, folded at infinity: depth = 1 / (|y| + 0.001), as Marsal et al. (IROS 2025) rescale."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.head.affine import SIGMA_SHARE, Affine, line_std
from mrac.head.base import Head, HeadResult, Scene
from mrac.options import check_numbers
from mrac.space import MIN_DEPTH_M, depth_std

_ROWS: Final = 64


@dataclass(frozen=True, kw_only=True)
class Folded(Head):
    """Where the line goes below zero, beyond infinity, it comes back from there; in other spaces it is `affine`.

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
        low, high = SIGMA_SHARE
        for top in range(0, scene.shape[0], _ROWS):
            rows = slice(top, top + _ROWS)
            x = scene.relative[rows].astype(np.float64)
            depth_m[rows] = np.maximum(1.0 / (np.abs(scene.fit(x)) + self.floor_per_m), MIN_DEPTH_M)
            std_m = depth_std(depth_m[rows], line_std(scene.fit, x), "inverse_depth")
            sigma_m[rows] = np.clip(std_m, low * depth_m[rows], high * depth_m[rows])
        return HeadResult(depth_m, sigma_m)


IMPLEMENTATION = Folded

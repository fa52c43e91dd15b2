"""Nearest-neighbour interpolation of the anchors: a baseline without relative depth."""

from dataclasses import dataclass

from mrac.head._interpolation import inliers_on_pixels, nearest_map, neighbour_spread
from mrac.head._sigma import uniform_sigma
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene


@dataclass(frozen=True, kw_only=True)
class Nearest(Head):
    """The depth of the nearest anchor; relative field and fit are not used.

    The deviation is one share of depth for the whole image, see `neighbour_spread`.
    """

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; without an anchor, what `affine` gives."""
        readings = inliers_on_pixels(scene)
        if not len(readings):
            return Affine()(scene)
        depth_m = nearest_map(readings, 1.0 / readings.inv_z_per_m, scene.shape)
        return HeadResult(depth_m, uniform_sigma(depth_m, neighbour_spread(readings)))


IMPLEMENTATION = Nearest

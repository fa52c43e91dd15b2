"""Anchors interpolated linearly over the triangles between them: what the readings alone say, without a network."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrac.head._interpolation import linear_over_triangles, nearest_map, readings_of, share_between
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.space import from_space, to_space


@dataclass(frozen=True, kw_only=True)
class Delaunay(Head):
    """Linear in the fit's space on each Delaunay triangle, the nearest anchor's depth outside their convex hull.

    A plane in the world is linear in inverse depth; depth completion usually interpolates depth. Neither the relative
    field nor the fit is looked at. The deviation is one share of depth for the whole image.
    """

    rests_on_fit: ClassVar[bool] = False

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`.

        Without an anchor it is what `affine` gives; without a triangle, the nearest anchor's depth, and the status is
        `too_few_anchors` or `collinear_anchors`.
        """
        readings, space = readings_of(scene), scene.samples.space
        if not len(readings):
            return Affine()(scene)
        values = to_space(1.0 / readings.inv_z_per_m, space)
        dense = nearest_map(readings, values, scene.shape)
        status = linear_over_triangles(readings, values, dense)
        depth_m = from_space(dense, space)
        return HeadResult(depth_m, depth_m * np.float32(share_between(readings)), status)


IMPLEMENTATION = Delaunay

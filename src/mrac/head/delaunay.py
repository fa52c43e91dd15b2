"""Linear interpolation of the anchors over their Delaunay triangles: a baseline without relative depth."""

from dataclasses import dataclass

from mrac.head._interpolation import inliers_on_pixels, linear_over_triangles, nearest_map, neighbour_spread
from mrac.head._sigma import uniform_sigma
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.space import from_space, to_space


@dataclass(frozen=True, kw_only=True)
class Delaunay(Head):
    """Linear in the fit's space on each Delaunay triangle, the nearest anchor's depth outside their convex hull.

    A plane in the world is linear in inverse depth; depth completion usually interpolates depth. Relative field and
    fit are not used. The deviation is one share of depth for the whole image, see `neighbour_spread`.
    """

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`.

        Without an anchor it is what `affine` gives; without a triangle, the nearest anchor's depth, and the status is
        `too_few_anchors` or `collinear_anchors`.
        """
        readings, space = inliers_on_pixels(scene), scene.samples.space
        if not len(readings):
            return Affine()(scene)
        values = to_space(1.0 / readings.inv_z_per_m, space)
        dense = nearest_map(readings, values, scene.shape)
        status = linear_over_triangles(readings, values, dense)
        depth_m = from_space(dense, space)
        return HeadResult(depth_m, uniform_sigma(depth_m, neighbour_spread(readings)), status)


IMPLEMENTATION = Delaunay

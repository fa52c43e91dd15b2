"""The nearest anchor's depth at every pixel: what the readings alone say, without a network."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrac.head._interpolation import nearest_map, readings_of, share_between
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene


@dataclass(frozen=True, kw_only=True)
class Nearest(Head):
    """Neither the relative field nor the fit is looked at. The deviation is one share of depth for the whole image."""

    rests_on_fit: ClassVar[bool] = False

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; without an anchor, what `affine` gives."""
        readings = readings_of(scene)
        if not len(readings):
            return Affine()(scene)
        depth_m = nearest_map(readings, 1.0 / readings.inv_z_per_m, scene.shape)
        return HeadResult(depth_m, depth_m * np.float32(share_between(readings)))


IMPLEMENTATION = Nearest

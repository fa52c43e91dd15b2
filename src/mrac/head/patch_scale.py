"""Smooth field of scales, one per patch of the image: the patch scales of OMNI-DC (Zuo et al. 2025)."""

from dataclasses import dataclass

import numpy as np

from mrac.head._membrane import membrane, sum_over_cells
from mrac.head._sigma import rms, uniform_sigma
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.registry import check_numbers
from mrac.relative import resize_field, sample_bilinear
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M


@dataclass(frozen=True, kw_only=True)
class PatchScale(Head):
    """D = s · fit; s is Σ fit · z / Σ fit² in each patch with anchors, and interpolated smoothly in the others.

    The deviation is one share of depth: the root mean square log residual of the fit at the anchors.

    Attributes:
        patches: along the image's shorter side.
        anchor_weight: weight of a patch's own scale against smoothness between patches; 5 is OMNI-DC's.
    """

    patches: int = 8
    anchor_weight: float = 5.0

    def __post_init__(self) -> None:
        check_numbers(self, 1, 1000, only=("patches",))
        check_numbers(self, 1e-6, 1e9, only=("anchor_weight",))

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; without an anchor, what `affine` gives."""
        anchors, line = scene.samples.inliers, Affine()(scene)
        if not len(anchors):
            return line
        (H, W), side = scene.shape, min(scene.shape) / self.patches
        h, w = (max(round(length / side), 1) for length in (H, W))
        fitted_m = sample_bilinear(line.depth_m, anchors.uv_px)
        across, along = sum_over_cells(
            anchors.uv_px, (H, W), (h, w), anchors.weight * fitted_m * anchors.z_m, anchors.weight * fitted_m**2
        )
        known = along > 0.0
        scale = np.divide(across, along, out=across, where=known)
        field, status = membrane(scale, self.anchor_weight * known, np.ones((h - 1, w)), np.ones((h, w - 1)))
        depth_m = np.clip(line.depth_m * resize_field(field, (H, W)), np.float32(MIN_DEPTH_M), np.float32(MAX_DEPTH_M))
        return HeadResult(depth_m, uniform_sigma(depth_m, rms(np.log(anchors.z_m / fitted_m))), status)


IMPLEMENTATION = PatchScale

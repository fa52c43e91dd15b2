"""Gradients of the fit's log depth, integrated through the anchors: OMNI-DC (Zuo et al. 2025) without its network."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.head._membrane import membrane, sum_over_cells
from mrac.head._sigma import rms, uniform_sigma
from mrac.head.affine import Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.registry import check_numbers
from mrac.relative import resize_field, sample_bilinear
from mrac.space import from_space


@dataclass(frozen=True, kw_only=True)
class PoissonLog(Head):
    """ln D minimises Σ stiffness · (∇ ln D − ∇ ln fit)² + `anchor_weight` · Σ (ln D − ln z)².

    OMNI-DC's network gives the gradients and their weights; here the gradients are the fit's, and weigh less across its
    edges. Solved for is the correction ln D − ln fit, on a grid of cells of `cell_px`: enlarged, it leaves edges sharp.
    Without a relative field the fit is constant and the correction carries the whole scene.
    The deviation is one share of depth: the root mean square log residual of the fit at the anchors.

    Attributes:
        anchor_weight: weight of an anchor against a gradient; 5 is OMNI-DC's.
        cell_px: side of a cell.
        edge: the step of ln fit from cell to cell that halves a gradient's weight.
    """

    anchor_weight: float = 5.0
    cell_px: int = 4
    edge: float = 0.1

    def __post_init__(self) -> None:
        check_numbers(self, 1e-6, 1e9, only=("anchor_weight",))
        check_numbers(self, 1, 1000, only=("cell_px",))
        check_numbers(self, 1e-3, 1e9, only=("edge",))

    def __call__(self, scene: Scene) -> HeadResult:
        """See `Head`; without an anchor, what `affine` gives."""
        anchors, line = scene.samples.inliers, Affine()(scene)
        if not len(anchors):
            return line
        log_fit = np.log(line.depth_m)
        log_residual = np.log(anchors.z_m) - sample_bilinear(log_fit, anchors.uv_px)
        h, w = (-(-side // self.cell_px) for side in scene.shape)
        weighted = anchors.weight * log_residual
        weight, total = sum_over_cells(anchors.uv_px, scene.shape, (h, w), anchors.weight, weighted)
        values = np.divide(total, weight, out=total, where=weight > 0.0)
        trend = resize_field(log_fit, (h, w))
        down, right = (self._stiffness(np.diff(trend, axis=axis)) for axis in (0, 1))
        correction, status = membrane(values, self.anchor_weight * weight, down, right)
        depth_m = from_space(log_fit + resize_field(correction, scene.shape), "log_depth")
        return HeadResult(depth_m, uniform_sigma(depth_m, rms(log_residual)), status)

    def _stiffness(self, step: FloatArray) -> FloatArray:
        return np.asarray(1.0 / (1.0 + (step.astype(np.float64) / self.edge) ** 2))


IMPLEMENTATION = PoissonLog

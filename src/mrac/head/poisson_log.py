"""The fit's own slopes of log depth, integrated through the anchors: OMNI-DC (Zuo et al. 2025) without its network."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.head._membrane import membrane, on_cells
from mrac.head.affine import SIGMA_SHARE, Affine
from mrac.head.base import Head, HeadResult, Scene
from mrac.options import check_numbers
from mrac.relative import resize_field, sample_bilinear
from mrac.space import from_space


@dataclass(frozen=True, kw_only=True)
class PoissonLog(Head):
    """ln D with the least Σ stiffness · (∇ ln D − ∇ ln fit)² + `anchor_weight` · Σ (ln D − ln z)².

    OMNI-DC's network gives the slopes and their weights; here they are the fit's, and weigh less across its edges. What
    is solved for is the correction ln D − ln fit, on a grid of cells of `cell_px`: enlarged, it leaves edges sharp.
    Without a relative field the correction is all there is.
    The deviation is one share of depth: that of the fit at the anchors.

    Attributes:
        anchor_weight: of an anchor against a slope; 5 is OMNI-DC's.
        cell_px: side of a cell.
        edge: the step of ln fit from cell to cell that halves a slope's weight.
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
        anchors, line = scene.samples.trusted, Affine()(scene)
        if not len(anchors):
            return line
        log_fit = np.log(line.depth_m)
        off = np.log(anchors.z_m) - sample_bilinear(log_fit, anchors.uv_px)
        h, w = (-(-side // self.cell_px) for side in scene.shape)
        trust, pull = on_cells(anchors.uv_px, scene.shape, (h, w), anchors.weight, anchors.weight * off)
        values = np.divide(pull, trust, out=pull, where=trust > 0.0)
        trend = resize_field(log_fit, (h, w))
        down, right = (self._stiffness(np.diff(trend, axis=axis)) for axis in (0, 1))
        correction, status = membrane(values, self.anchor_weight * trust, down, right)
        depth_m = from_space(log_fit + resize_field(correction, scene.shape), "log_depth")
        share = np.clip(np.sqrt(np.mean(off**2)), *SIGMA_SHARE)
        return HeadResult(depth_m, depth_m * np.float32(share), status)

    def _stiffness(self, step: FloatArray) -> FloatArray:
        return np.asarray(1.0 / (1.0 + (step.astype(np.float64) / self.edge) ** 2))


IMPLEMENTATION = PoissonLog

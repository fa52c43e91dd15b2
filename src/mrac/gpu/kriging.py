"""The head `kriging` for a batch of frames on a device: few readings solved exactly, more of them tile by tile.

Which of the two a frame needs is known on the device alone, by the number of readings that the gate has left. Where
both may occur, both are computed, and chosen between at the end.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from mrac.fit.base import PRIOR_SPREAD
from mrac.gp.kernel import PRIOR_VAR, RELATIVE
from mrac.gpu.appearance import relative_feature
from mrac.gpu.fit import Curve, Readings
from mrac.gpu.foundation import constant
from mrac.gpu.nodes import BatchNodes
from mrac.gpu.padded import covered_area, first_of, least, most, quantile_of, taken
from mrac.gpu.tiles import BatchTiles, Observed, Predicted, conditioned, predict
from mrac.head._tiles import NUM_NEAREST
from mrac.head.kriging import MIN_RANGE, MIN_SPREAD, Kriging, node_step
from mrac.relative import PIXELS_BEYOND, RANGE_QUANTILES
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M, SIGMA_SHARE
from mrac.types import INLIER_WEIGHT

MAX_EXACT = max(Kriging().max_exact, NUM_NEAREST)  # readings that are solved all together


class _Scene(NamedTuple):
    """What the head needs of B frames beside its observations, (B, 1) each but for the first two.

    Attributes:
        ends: (B,) and (B,) the range of relative depth.
        use_relative: (B,).
        trend: log depth between which the trend stays.
        measured: log depth between which there are readings.
        num: of readings.
    """

    ends: tuple[Tensor, Tensor]
    use_relative: Tensor
    trend: tuple[Tensor, Tensor]
    measured: tuple[Tensor, Tensor]
    num: Tensor


class BatchKriging(nn.Module):
    """`mrac.head.kriging.Kriging` at its defaults, for images of one size.

    Args:
        shape: (H, W) of the images.
        cells: (h, w) of their appearance.
        max_anchors: the most readings of a frame.
    """

    step_of: Tensor

    def __init__(self, shape: tuple[int, int], cells: tuple[int, int], max_anchors: int) -> None:
        super().__init__()
        self.head, self.shape = Kriging(), shape
        steps, step_of = _steps(shape, 1, min(max_anchors, MAX_EXACT))
        self.exact = BatchNodes(shape, cells, steps)
        constant(self, "step_of", np.array([step_of[0], *step_of]), torch.int64)
        self.tiles: BatchTiles | None = None
        if max_anchors > MAX_EXACT:
            steps, step_of = _steps(shape, MAX_EXACT + 1, max_anchors)
            self.tiles = BatchTiles(BatchNodes(shape, cells, steps), step_of, MAX_EXACT + 1)

    def forward(
        self, readings: Readings, curve: Curve, cells_B5hw: Tensor, relative_BHW: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Depth and its standard deviation, (B, H, W) float32 metres."""
        scene, observed = self._observed(readings, curve)
        mean, std = self._process(scene, observed, cells_B5hw, relative_BHW).unbind(1)
        low, high, measured_low, measured_high, num = (
            part.reshape(-1, 1, 1) for part in (*scene.trend, *scene.measured, scene.num)
        )
        median = _within(curve(relative_BHW), low, high) + mean
        measured_low, measured_high, num = measured_low.float(), measured_high.float(), num.float()
        beyond = torch.maximum(median - measured_high, measured_low - median).clamp(min=0.0)
        stated = torch.sqrt((self.head.extrapolation * beyond) ** 2 + std * std)
        log_depth = median - num / (num + self.head.prior_anchors) * std.clamp(max=0.5) ** 2
        depth_m = log_depth.clamp(math.log(MIN_DEPTH_M), math.log(MAX_DEPTH_M)).exp()
        factor = torch.where(num > 0.0, self.head.sigma_factor, 1.0)
        ratio = torch.exp((factor * stated).clamp(max=2.5))
        half_width = median.exp() * (ratio - 1.0 / ratio) * 0.5
        least_share, largest_share = SIGMA_SHARE
        return depth_m, torch.minimum(torch.maximum(half_width, least_share * depth_m), largest_share * depth_m)

    def _observed(self, readings: Readings, curve: Curve) -> tuple[_Scene, Observed]:
        """What the process is conditioned on: the residuals of readings of any weight."""
        head, (uv_px, log_z, x, seen, valid, weight, use_relative) = self.head, readings
        there = valid & (weight > 0.0)
        num = there.sum(dim=1, keepdim=True)
        inlier = there & (weight >= INLIER_WEIGHT)
        inlier = torch.where(inlier.any(dim=1, keepdim=True), inlier, there)
        nearest, farthest = least(log_z, inlier), most(log_z, inlier)
        reach = math.log(head.trend_reach) * (2.0 - (inlier.sum(dim=1, keepdim=True) > 1).double())
        none = num == 0
        low = torch.where(none, math.log(MIN_DEPTH_M), nearest - reach)
        high = torch.where(none, math.log(MAX_DEPTH_M), farthest + reach)
        residual = torch.where(there, log_z - _within(curve(x), low, high), 0.0)
        first, last = (quantile_of(x, there, share) for share in RANGE_QUANTILES)
        span = (PIXELS_BEYOND * (last - first)).clamp(min=MIN_RANGE)
        ends = first.nan_to_num(0.0, 0.0, 0.0)[:, 0], (first + span).nan_to_num(1.0, 1.0, 1.0)[:, 0]
        relative = relative_feature(x, *ends) * use_relative[:, None].float()
        own = torch.cat([seen, relative[..., None]], dim=2)
        assert own.shape[-1] == RELATIVE + 1
        noise_var = head.noise_var(torch.where(there, weight, 1.0))
        measured = torch.where(none, -torch.inf, nearest), torch.where(none, torch.inf, farthest)
        scene = _Scene(ends, use_relative, (low, high), measured, num)
        return scene, Observed(uv_px, own, noise_var, residual, there)

    def _process(self, scene: _Scene, observed: Observed, cells_B5hw: Tensor, relative_BHW: Tensor) -> Tensor:
        """(B, 2, H, W) mean and standard deviation of the process at the pixels."""
        which = self.step_of[scene.num[:, 0].clamp(max=len(self.step_of) - 1)]
        seen = scene, cells_B5hw, relative_BHW
        exact = _exactly(observed, _features(self.exact, which, *seen))
        pixels = self.exact.to_pixels(which, self._mean_and_std(scene, observed, exact))
        if self.tiles is None:
            return pixels
        tiles = self.tiles.of(scene.num[:, 0])
        which = tiles.which[:, 0]
        tiled = self.tiles(observed, tiles, _features(self.tiles.nodes, which, *seen))
        many = self.tiles.nodes.to_pixels(which, self._mean_and_std(scene, observed, tiled))
        return torch.where(scene.num[..., None, None] > MAX_EXACT, many, pixels)

    def _mean_and_std(self, scene: _Scene, observed: Observed, found: Predicted) -> Tensor:
        """(B, 2, N) of the process at the nodes, its amplitude estimated."""
        head, (H, W), num = self.head, self.shape, scene.num
        area = covered_area(observed.uv_px, observed.there)[:, None] / (H * W)
        share = torch.where(num > 2, area.clamp(MIN_SPREAD, 1.0), 1.0)
        more = head.amplitude_without_relative - head.amplitude
        prior = head.amplitude + more * (~scene.use_relative[:, None]).double()
        amplitude_var = head.amplitude_var(prior, found.length2[:, None], num, share)  # type: ignore[arg-type]
        std = ((PRIOR_VAR - found.explained).clamp(min=0.0) * amplitude_var.float()).sqrt()
        return torch.stack([found.mean, torch.where(num == 0, PRIOR_SPREAD, std)], dim=1)


def _steps(shape: tuple[int, int], first: int, last: int) -> tuple[list[int], list[int]]:
    """The distinct steps of `first` to `last` readings, and the number of each one's step among these."""
    steps = [node_step(shape, num) for num in range(first, last + 1)]
    distinct = sorted(set(steps))
    return distinct, [distinct.index(step) for step in steps]


def _features(nodes: BatchNodes, which_B: Tensor, scene: _Scene, cells_B5hw: Tensor, relative_BHW: Tensor) -> Tensor:
    """(B, N, NUM_FEATURES) of the nodes, the last 0 where relative depth is not used."""
    features = nodes.features(which_B, cells_B5hw, relative_BHW, scene.ends)
    features[..., RELATIVE] *= scene.use_relative[:, None].float()
    return features


def _exactly(observed: Observed, nodes_BNF: Tensor) -> Predicted:
    """All readings at once; of more than `MAX_EXACT` the first ones alone, which is to be thrown away."""
    if observed.there.shape[1] > MAX_EXACT:
        chosen = first_of(observed.there, MAX_EXACT)
        observed = Observed(*(taken(part, chosen) for part in observed))
    _, features, noise_var, residual, there = observed
    given = conditioned(features, noise_var, residual, there)
    return Predicted(*predict(nodes_BNF, features, there, given), given.length2)


def _within(values: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """`values` clipped and in single precision, as `mrac.space.log_from_space` gives them."""
    return torch.minimum(torch.maximum(values, low), high).float()

"""The head `kriging` for a batch of frames on a device: up to `Kriging.max_exact` padded readings, solved exactly."""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from mrac.fit.base import PRIOR_SPREAD
from mrac.gp.kernel import PRIOR_VAR, RELATIVE
from mrac.gpu.appearance import BatchAppearance, relative_feature
from mrac.gpu.fit import Curve, Readings
from mrac.gpu.foundation import constant
from mrac.gpu.linear_algebra import inverse_root, without_padding
from mrac.gpu.padded import covered_area, least, most, quantile_of
from mrac.gpu.process import process_covariance
from mrac.gpu.resampling import node_matrix
from mrac.head.kriging import MIN_RANGE, MIN_SPREAD, Kriging
from mrac.relative import PIXELS_BEYOND, RANGE_QUANTILES
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M, SIGMA_SHARE
from mrac.types import INLIER_WEIGHT


class _Pixels(NamedTuple):
    """What the last step needs of every frame, (B, 1, 1) each, and the process at the nodes (B, rows, columns)."""

    mean: Tensor
    std: Tensor
    trend_low: Tensor
    trend_high: Tensor
    measured_low: Tensor
    measured_high: Tensor
    num: Tensor


class BatchKriging(nn.Module):
    """`mrac.head.kriging.Kriging` at its defaults, for images of one size.

    Args:
        appearance: of the images.
        step: pixels between the nodes of the appearance's grid.
    """

    up_rows: Tensor
    up_columns: Tensor

    def __init__(self, appearance: BatchAppearance, step: int) -> None:
        super().__init__()
        self.head, self.appearance = Kriging(), appearance
        (H, W), (rows, columns) = appearance.shape, appearance.grid
        constant(self, "up_rows", node_matrix(H, step, rows), torch.float32)
        constant(self, "up_columns", node_matrix(W, step, columns).T, torch.float32)

    def forward(
        self, readings: Readings, curve: Curve, cells_B5hw: Tensor, relative_BHW: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Depth and its standard deviation, (B, H, W) float32 metres."""
        pixels = self._process(readings, curve, cells_B5hw, relative_BHW)
        mean, std = self.up_rows @ (torch.stack([pixels.mean, pixels.std]) @ self.up_columns)
        trend = _within(curve(relative_BHW), pixels.trend_low, pixels.trend_high)
        median = trend + mean
        beyond = torch.maximum(median - pixels.measured_high, pixels.measured_low - median).clamp(min=0.0)
        stated = torch.sqrt((self.head.extrapolation * beyond) ** 2 + std * std)
        shrink = pixels.num / (pixels.num + self.head.prior_anchors)
        log_depth = median - shrink * std.clamp(max=0.5) ** 2
        depth_m = log_depth.clamp(math.log(MIN_DEPTH_M), math.log(MAX_DEPTH_M)).exp()
        factor = torch.where(pixels.num > 0.0, self.head.sigma_factor, 1.0)
        ratio = torch.exp((factor * stated).clamp(max=2.5))
        half_width = median.exp() * (ratio - 1.0 / ratio) * 0.5
        low, high = SIGMA_SHARE
        return depth_m, torch.minimum(torch.maximum(half_width, low * depth_m), high * depth_m)

    def _process(self, readings: Readings, curve: Curve, cells_B5hw: Tensor, relative_BHW: Tensor) -> _Pixels:
        """Conditions the process on the readings of any weight, and predicts it at the nodes."""
        head, (uv_px, log_z, x, seen, valid, weight, use_relative) = self.head, readings
        there = valid & (weight > 0.0)
        num = there.sum(dim=1)
        inlier = there & (weight >= INLIER_WEIGHT)
        inlier = torch.where(inlier.any(dim=1, keepdim=True), inlier, there)
        nearest, farthest = least(log_z, inlier), most(log_z, inlier)
        reach = math.log(head.trend_reach) * (2.0 - (inlier.sum(dim=1, keepdim=True) > 1).double())
        none = num[:, None] == 0
        low = torch.where(none, math.log(MIN_DEPTH_M), nearest - reach)
        high = torch.where(none, math.log(MAX_DEPTH_M), farthest + reach)
        residual = torch.where(there, log_z - _within(curve(x), low, high), 0.0)

        first, last = (quantile_of(x, there, share) for share in RANGE_QUANTILES)
        span = (PIXELS_BEYOND * (last - first)).clamp(min=MIN_RANGE)
        used = use_relative[:, None].to(torch.float32)
        ends = first.nan_to_num(0.0, 0.0, 0.0)[:, 0], (first + span).nan_to_num(1.0, 1.0, 1.0)[:, 0]
        own = torch.cat([seen, (relative_feature(x, *ends) * used)[..., None]], dim=2)
        nodes = self.appearance.at_nodes(cells_B5hw, relative_feature(relative_BHW, *ends) * used[:, :, None])
        assert own.shape[-1] == RELATIVE + 1

        safe = torch.where(there, weight, 1.0)
        total = process_covariance(own.double(), own.double()) + torch.diag_embed(head.noise_var(safe))
        whitener = inverse_root(without_padding(total, there))
        white = (whitener @ residual[..., None])[..., 0]
        weights = (whitener.mT @ white[..., None]).float()
        between = process_covariance(nodes, own) * there[:, None].float()
        mean = (between @ weights)[..., 0]
        explained = (between @ whitener.mT.float()).square().sum(dim=2)
        area = covered_area(uv_px, there) / (self.appearance.shape[0] * self.appearance.shape[1])
        share = torch.where(num > 2, area.clamp(MIN_SPREAD, 1.0), 1.0)
        more = head.amplitude_without_relative - head.amplitude
        prior = head.amplitude + more * (~use_relative).double()
        amplitude_var = head.amplitude_var(prior, (white * white).sum(dim=1), num, share)  # type: ignore[arg-type]
        std = ((PRIOR_VAR - explained).clamp(min=0.0) * amplitude_var[:, None].float()).sqrt()
        std = torch.where(none, PRIOR_SPREAD, std)
        per_frame = low, high, torch.where(none, -torch.inf, nearest), torch.where(none, torch.inf, farthest), num
        grid = self.appearance.grid
        return _Pixels(
            mean.reshape(-1, *grid), std.reshape(-1, *grid), *(p.float().reshape(-1, 1, 1) for p in per_frame)
        )


def _within(values: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """`values` clipped and in single precision, as `mrac.space.log_from_space` gives them."""
    return torch.minimum(torch.maximum(values, low), high).float()

"""All stages of the method `default` on a device, as one function of tensors of fixed shapes."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from mrac.gate.consensus.classifier import _LOCAL_RADII
from mrac.gpu.appearance import BatchAppearance, relative_feature, sample_bilinear
from mrac.gpu.fit import BatchFit, Readings
from mrac.gpu.foundation import BatchFoundation, constant
from mrac.gpu.gate import BatchGate, GateInput
from mrac.gpu.kriging import MAX_EXACT, BatchKriging
from mrac.relative import RANGE_QUANTILES, TYPICAL_PIXELS


class GpuResult(NamedTuple):
    """Results of B frames, on the device.

    Attributes:
        depth_m: (B, H, W) float32 metres.
        sigma_m: (B, H, W) float32 standard deviation.
        outlier_probability: (B, K) float32; 1 where there is no reading.
        keep: (B, K) bool.
        weight: (B, K) float32.
        use_relative: (B,) bool: False where the readings contradict relative depth (`foundation_disagrees`) or it is
            constant at them, so that neither fit nor head used it.
    """

    depth_m: Tensor
    sigma_m: Tensor
    outlier_probability: Tensor
    keep: Tensor
    weight: Tensor
    use_relative: Tensor


class Stages(nn.Module):
    """Foundation, gate, fit and head for images of one size; nothing in it waits for the device or depends on values.

    Args:
        shape: (H, W) of the images.
        network_dtype: in which the network computes.
        sizes: numbers of readings that frames are padded to, ascending.
        max_dense: see `BatchGate`.
    """

    around_u: Tensor
    around_v: Tensor

    def __init__(
        self, shape: tuple[int, int], network_dtype: torch.dtype, sizes: Sequence[int], max_dense: int
    ) -> None:
        super().__init__()
        self.shape = shape
        self.foundation = BatchFoundation(shape, network_dtype)
        self.appearance = BatchAppearance(shape)
        self.gate, self.fit = BatchGate(sizes[-1], max_dense), BatchFit(sizes[-1])
        # One for each size that needs tiles: of these, how many and how large they may be depends on it.
        few = min(sizes[-1], MAX_EXACT)
        heads = {num: BatchKriging(shape, self.appearance.cells, num) for num in {few, *sizes} if num >= few}
        self.heads = nn.ModuleDict({str(num): heads[num] for num in sorted(heads)})
        angle = np.arange(8) * (np.pi / 4.0)
        radius = np.array(_LOCAL_RADII)[:, None] * min(shape)
        constant(self, "around_u", np.append(0.0, radius * np.cos(angle)))
        constant(self, "around_v", np.append(0.0, radius * np.sin(angle)))
        self._calibrate: Callable[..., GpuResult] = self._gate_fit_head

    def compile_parts(self) -> None:
        """Has `torch.compile` fuse what network, gate, fit and head do between their products, once for each size.

        Not the appearance: it runs beside the network, which takes longer, and torch 2.11 writes code for it that is
        no Python.
        """
        self.foundation.network.compile(dynamic=False)
        self._calibrate = torch.compile(self._gate_fit_head, dynamic=False)

    def forward(self, images_BHW3: Tensor, uv_px_BK2: Tensor, z_m_BK: Tensor, count_B: Tensor) -> GpuResult:
        """Depth of a batch; see `GpuCalibrator.__call__`."""
        relative, cells = self.seen(images_BHW3)
        return self.calibrated(relative, cells, uv_px_BK2, z_m_BK, count_B)

    def seen(self, images_BHW3: Tensor) -> tuple[Tensor, Tensor]:
        """What depends on the images alone: (B, H, W) relative depth, and (B, 5, h, w) colour and regions."""
        if images_BHW3.device.type != "cuda":
            return self.foundation(images_BHW3), self.appearance(images_BHW3)
        # Side by side: at a small batch neither fills the device.
        main, aside = torch.cuda.current_stream(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(main)
        with torch.cuda.stream(aside):
            cells = self.appearance(images_BHW3)
        relative = self.foundation(images_BHW3)
        main.wait_stream(aside)
        return relative, cells

    def calibrated(
        self, relative_BHW: Tensor, cells_B5hw: Tensor, uv_px_BK2: Tensor, z_m_BK: Tensor, count_B: Tensor
    ) -> GpuResult:
        """Gate, fit and head, given what `seen` found."""
        return self._calibrate(relative_BHW, cells_B5hw, uv_px_BK2, z_m_BK, count_B)

    def _gate_fit_head(
        self, relative_BHW: Tensor, cells_B5hw: Tensor, uv_px_BK2: Tensor, z_m_BK: Tensor, count_B: Tensor
    ) -> GpuResult:
        valid = torch.arange(z_m_BK.shape[1], device=z_m_BK.device) < count_B[:, None]
        z_m = torch.where(valid, z_m_BK.double(), 1.0)
        uv_px = torch.where(valid[..., None], uv_px_BK2.double(), 0.0)
        x = torch.where(valid, sample_bilinear(relative_BHW, uv_px), 0.0)
        x_range = typical_range(relative_BHW)
        features = self.appearance.at_readings(cells_B5hw, uv_px)
        relative = relative_feature(x, x_range[:, 0], x_range[:, 1])
        every = torch.cat([features, relative[..., None]], dim=2)
        gated = self.gate(GateInput(z_m, x, every, self._local_range(relative_BHW, uv_px), valid))
        readings = Readings(uv_px, z_m.log(), x, features, valid, gated.weight, gated.use_relative)
        curve = self.fit(readings, gated.for_fit, relative, x_range)
        depth_m, sigma_m = self._head(z_m.shape[1])(readings, curve, cells_B5hw, relative_BHW)
        outlier, weight = gated.outlier_probability.float(), gated.weight.float()
        return GpuResult(depth_m, sigma_m, outlier, gated.keep, weight, gated.use_relative)

    def _head(self, num: int) -> nn.Module:
        """The one for frames padded to `num` readings."""
        return next(head for size, head in self.heads.items() if int(size) >= num)

    def _local_range(self, relative_BHW: Tensor, uv_px_BK2: Tensor) -> Tensor:
        """(B, K, 2) least and largest relative depth around each reading; see `gate.consensus.classifier`."""
        H, W = self.shape
        u = (uv_px_BK2[..., :1] + self.around_u).round().clamp(0, W - 1).to(torch.int64)
        v = (uv_px_BK2[..., 1:] + self.around_v).round().clamp(0, H - 1).to(torch.int64)
        around = relative_BHW.flatten(1).gather(1, (v * W + u).flatten(1)).reshape(u.shape)
        return torch.stack([around.amin(dim=2), around.amax(dim=2)], dim=2).double()


def typical_range(relative_BHW: Tensor) -> Tensor:
    """(B, 2) float64 range of each field without stray pixels; see `mrac.relative.typical_range`."""
    H, W = relative_BHW.shape[1:]
    stride = max(1, math.isqrt(H * W // TYPICAL_PIXELS))
    some = relative_BHW[:, ::stride, ::stride].flatten(1)
    # Only the ends are put in order, both at once.
    at = RANGE_QUANTILES[0] * (some.shape[1] - 1)
    least = torch.stack([some, -some]).topk(min(int(at) + 2, some.shape[1]), dim=2, largest=False, sorted=True).values
    ends = torch.lerp(
        least[..., int(at)].double(), least[..., min(int(at) + 1, least.shape[2] - 1)].double(), at - int(at)
    )
    return torch.stack([ends[0], -ends[1]], dim=1)

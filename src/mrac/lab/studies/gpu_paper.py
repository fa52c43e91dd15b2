"""The paper's scheme on a device: DAv2-L's architecture, Theil–Sen + MAD gate, least squares, residual U-Net.

Weights are random: what is timed is the arithmetic, which no weight changes. Beside it the same in eager single
precision, as the paper's system is run. Used by `gpu_speed`.
"""

import argparse
import copy
from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from mrac.errors import MissingExtra
from mrac.foundation._depth_anything_input import SETTINGS
from mrac.foundation._input import covering_size
from mrac.gpu.graph import Recording
from mrac.gpu.padded import median_of
from mrac.lab.train.heads.line_fit import fit_lines
from mrac.lab.train.heads.residual_network import (
    Line,
    ResidualNetwork,
    anchor_channel,
    compose,
    correction_unit,
    normalise_relative,
)
from mrac.robust_line.theil_sen import MAD_TO_SIGMA

_KAPPA: Final = 2.0  # of the paper's gate
_NUM_ANCHORS: Final = 50
_LARGE: Final = {"hidden_size": 1024, "num_attention_heads": 16}
_TAPS: Final = (5 / 24, 12 / 24, 18 / 24, 1.0)  # of the layers, that the decoder reads in V2


def depth_anything_large(num_layers: int = 24) -> nn.Module:
    """Depth Anything V2 Large with random weights; fewer layers than 24 for a trial.

    Raises:
        MissingExtra: transformers is not installed.
    """
    try:
        from transformers import DepthAnythingConfig, DepthAnythingForDepthEstimation, Dinov2Config  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("gpu_speed", "torch") from None
    backbone = Dinov2Config(
        **_LARGE,
        num_hidden_layers=num_layers,
        image_size=518,
        patch_size=14,
        out_indices=[max(1, round(share * num_layers)) for share in _TAPS],
        apply_layernorm=True,
        reshape_hidden_states=False,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=_LARGE["hidden_size"],
        neck_hidden_sizes=[256, 512, 1024, 1024],
        fusion_hidden_size=256,
    )
    model = DepthAnythingForDepthEstimation(config).eval().requires_grad_(False)
    nn.init.ones_(model.head.conv3.bias)  # random weights alone give a map of zeros, through which no line goes
    large: nn.Module = model
    return large


class PaperScheme(nn.Module):
    """From images and anchors to depth, by the paper: its fit in depth, its head in metres.

    Args:
        shape: (H, W) of the images.
        large: the foundation.
        size: (h, w) of its input.
        dtype: in which the networks compute.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, shape: tuple[int, int], large: nn.Module, size: tuple[int, int], dtype: torch.dtype) -> None:
        super().__init__()
        self.shape, self.size, self.dtype = shape, size, dtype
        # Converted once: under autocast the weights would be rounded anew in every call, 2 GB of traffic.
        self.large = large if dtype == torch.float32 else copy.deepcopy(large).to(dtype)
        self.head = ResidualNetwork().eval().requires_grad_(False).to(dtype)
        for name, values in (("mean", SETTINGS.mean), ("std", SETTINGS.std)):
            self.register_buffer(name, 255.0 * torch.tensor(values)[:, None, None], persistent=False)

    def relative(self, images_B3HW: Tensor) -> Tensor:
        """(B, H, W) float32 relative depth of uint8 images."""
        pixels = functional.interpolate(images_B3HW.float(), self.size, mode="bicubic", align_corners=False)
        with torch.autocast(pixels.device.type, self.dtype, enabled=self.dtype != torch.float32):
            found = self.large((pixels - self.mean) / self.std).predicted_depth.float()
        return functional.interpolate(found[:, None], self.shape, mode="bilinear", align_corners=True)[:, 0]

    def calibrated(self, images_B3HW: Tensor, x_BHW: Tensor, pixel_BK: Tensor, z_BK: Tensor) -> tuple[Tensor, Tensor]:
        """(B, H, W) depth and log-variance, from readings of K pixels, numbered row by row."""
        x_BK = x_BHW.flatten(1).gather(1, pixel_BK)
        kept = theil_sen_keep(x_BK.double(), z_BK.double())
        scale, shift = fit_lines(x_BK, z_BK, kept, "depth")
        sparse, mask = torch.zeros_like(x_BHW).flatten(1), torch.zeros_like(x_BHW).flatten(1)
        sparse = sparse.scatter(1, pixel_BK, z_BK * kept).view_as(x_BHW)
        mask = mask.scatter(1, pixel_BK, kept.float()).view_as(x_BHW)
        line = Line(scale, shift, correction_unit(sparse, mask, "depth"), "depth")
        normal, anchor = normalise_relative(x_BHW), anchor_channel(line, x_BHW, sparse, mask)
        channels = (part[:, None].to(self.dtype) for part in (normal, mask, anchor))
        maps = self.head(images_B3HW.to(self.dtype), *channels).float()
        return compose(line, x_BHW, maps[:, 0], maps[:, 1], normal_BHW=normal), maps[:, 2]

    def forward(self, images_B3HW: Tensor, pixel_BK: Tensor, z_BK: Tensor) -> tuple[Tensor, Tensor]:
        """All of it."""
        return self.calibrated(images_B3HW, self.relative(images_B3HW), pixel_BK, z_BK)


def theil_sen_keep(x: Tensor, z: Tensor) -> Tensor:
    """(B, K) the paper's gate: within κ robust deviations of the Theil–Sen line; as `robust_line.theil_sen_mad`."""
    i, j = torch.triu_indices(x.shape[1], x.shape[1], 1, device=x.device)
    run = x[:, j] - x[:, i]
    slope = median_of((z[:, j] - z[:, i]) / run, run != 0.0)
    slope = torch.where(torch.isfinite(slope), slope, 0.0)
    every = torch.ones_like(x, dtype=torch.bool)
    residual = z - slope * x
    residual = residual - median_of(residual, every)
    sigma = MAD_TO_SIGMA * median_of((residual - median_of(residual, every)).abs(), every)
    return residual.abs() <= _KAPPA * sigma + 1e-12


def paper_scheme(given: argparse.Namespace, timed: Callable[..., dict[str, float]]) -> dict[str, Any]:
    """Milliseconds of the scheme, by image size and batch: recorded in half precision, and eager in single.

    Args:
        given: the options of `gpu_speed`.
        timed: of `gpu_speed`.
    """
    device = given.device
    large = depth_anything_large(given.paper_layers or 24).to(device)
    found: dict[str, Any] = {}
    for shape, size in _sizes(given):
        eager = PaperScheme(shape, large, size, torch.float32).to(device)
        half = PaperScheme(shape, large, size, torch.bfloat16).to(device)
        if device.startswith("cuda"):
            half.large.compile(dynamic=False)
            half.head.compile(dynamic=False)
        for batch in given.paper_batches:
            inputs = _inputs(shape, batch, device)
            with torch.inference_mode():
                once = _variants(eager, half, inputs)
                times = {name: timed(run, device, given.warmup, given.runs) for name, run in once.items()}
            recorded = times["half, recorded"]["mean_ms"]
            cell: dict[str, Any] = {**times, "ms_per_frame": recorded / batch}
            if "single, eager" in times:
                cell["eager_over_recorded"] = times["single, eager"]["mean_ms"] / recorded
            cell["half_against_single"] = _difference(eager, half, inputs)
            name = f"{_words(shape)} as {_words(size)}, batch {batch}"
            found[name] = cell
            print(f"{name}: {cell}", flush=True)
    return found


def _sizes(given: argparse.Namespace) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Of images and of the network's input."""
    return [(shape, size) for shape in given.paper_sizes for size in network_sizes(shape)]


def network_sizes(shape: tuple[int, int]) -> list[tuple[int, int]]:
    """(h, w) of the network's input for images of `shape`: by the network's own rule, a short side of 518 pixels.

    Of wide images that rule more than doubles the pixels. The paper's times (41.0 ms at 352 × 1216, 34.5 at 480 × 640)
    are in the ratio of the image patches without it, 2,175 to 1,813; with it there would be 4,736. So such an image is
    also timed at its own size, in whole patches.
    """
    covering = covering_size(shape, SETTINGS)
    if covering[0] * covering[1] <= 2 * shape[0] * shape[1]:
        return [covering]
    own = [SETTINGS.multiple * round(side / SETTINGS.multiple) for side in shape]
    return [covering, (own[0], own[1])]


def _words(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def _difference(eager: PaperScheme, half: PaperScheme, inputs: tuple[Tensor, Tensor, Tensor]) -> float:
    """Mean relative difference of the foundation's output in half precision from that in single."""
    with torch.inference_mode():
        single, other = (scheme.relative(inputs[0][:1]) for scheme in (eager, half))
        return float(((other - single).abs().mean() / single.abs().mean()).item())


def _variants(
    eager: PaperScheme, half: PaperScheme, inputs: tuple[Tensor, Tensor, Tensor]
) -> dict[str, Callable[[], Any]]:
    x = eager.relative(inputs[0])
    once: dict[str, Callable[[], Any]] = {
        "half, recorded": Recording(half, inputs).play,
        "half, recorded, foundation alone": Recording(lambda images: (half.relative(images),), inputs[:1]).play,
        "half, recorded, gate + fit + head": Recording(half.calibrated, (inputs[0], x, *inputs[1:])).play,
    }
    if len(x) == 1:  # a batch of 32 takes two seconds and more, and no figure needs it
        once["single, eager"] = lambda: eager(*inputs)
    return once


def _inputs(shape: tuple[int, int], batch: int, device: str) -> tuple[Tensor, Tensor, Tensor]:
    """Noise, 50 readings at pixels of their own."""
    rng = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (batch, 3, *shape), generator=rng, dtype=torch.uint8)
    pixel = torch.stack([torch.randperm(shape[0] * shape[1], generator=rng)[:_NUM_ANCHORS] for _ in range(batch)])
    z_m = 1.0 + 8.0 * torch.rand((batch, _NUM_ANCHORS), generator=rng)
    return images.to(device), pixel.to(device), z_m.to(device)

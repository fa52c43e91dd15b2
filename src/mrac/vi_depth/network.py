"""The scale-map learner: MiDaS v2.1 small on two channels, with the names and shapes of the published weights."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from mrac.conventions import FloatArray

_EXPANSION = 6


class SameConvolution(nn.Conv2d):
    """A convolution without bias, padded as TensorFlow's "same" does; the trunk's weights were trained with that.

    At stride 2, on the even sizes that multiples of 32 keep, it is one pixel more on the right and below.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, *, stride: int = 1, groups: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, stride, groups=groups, bias=False)
        before = (kernel - stride) // 2
        after = kernel - stride - before
        self.border = (before, after, before, after)

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, H / stride, W / stride)."""
        return super().forward(functional.pad(x, self.border) if any(self.border) else x)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3)  # TensorFlow's, not torch's 1e-5


class SeparableBlock(nn.Module):
    """Filter per channel, then mix channels."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv_dw = SameConvolution(inputs, inputs, 3, groups=inputs)
        self.bn1 = _norm(inputs)
        self.conv_pw = SameConvolution(inputs, outputs, 1)
        self.bn2 = _norm(outputs)

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, H, W)."""
        return self.bn2(self.conv_pw(functional.relu6(self.bn1(self.conv_dw(x)))))  # type: ignore[no-any-return]


class InvertedResidual(nn.Module):
    """Expand, filter per channel, project; the input added where shapes allow."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        super().__init__()
        hidden = inputs * _EXPANSION
        self.conv_pw = SameConvolution(inputs, hidden, 1)
        self.bn1 = _norm(hidden)
        self.conv_dw = SameConvolution(hidden, hidden, kernel, stride=stride, groups=hidden)
        self.bn2 = _norm(hidden)
        self.conv_pwl = SameConvolution(hidden, outputs, 1)
        self.bn3 = _norm(outputs)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) to (B, outputs, H / stride, W / stride)."""
        wide = functional.relu6(self.bn1(self.conv_pw(x)))
        wide = functional.relu6(self.bn2(self.conv_dw(wide)))
        y: Tensor = self.bn3(self.conv_pwl(wide))
        return x + y if self.residual else y


def _stage(inputs: int, outputs: int, *, num: int, kernel: int, stride: int) -> nn.Sequential:
    first = InvertedResidual(inputs, outputs, kernel, stride)
    return nn.Sequential(first, *(InvertedResidual(outputs, outputs, kernel, 1) for _ in range(num - 1)))


class Trunk(nn.Module):
    """EfficientNet-Lite3 without its classifier, split where the decoder reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer1 = nn.Sequential(
            SameConvolution(3, 32, 3, stride=2),
            _norm(32),
            nn.ReLU6(),
            nn.Sequential(SeparableBlock(32, 24)),
            _stage(24, 32, num=3, kernel=3, stride=2),
        )
        self.layer2 = nn.Sequential(_stage(32, 48, num=3, kernel=5, stride=2))
        self.layer3 = nn.Sequential(
            _stage(48, 96, num=5, kernel=3, stride=2), _stage(96, 136, num=5, kernel=5, stride=1)
        )
        self.layer4 = nn.Sequential(
            _stage(136, 232, num=6, kernel=5, stride=2), _stage(232, 384, num=1, kernel=3, stride=1)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """(B, 3, H, W), H and W multiples of 32, to maps of 32, 48, 136 and 384 channels at strides 4, 8, 16 and 32."""
        at4 = self.layer1(x)
        at8 = self.layer2(at4)
        at16 = self.layer3(at8)
        return at4, at8, at16, self.layer4(at16)


class ResidualUnit(nn.Module):
    """Two convolutions beside the identity, no batch norm."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to the same shape."""
        return x + self.conv2(functional.relu(self.conv1(functional.relu(x))))  # type: ignore[no-any-return]


class Fusion(nn.Module):
    """One step of the feature pyramid: adds the trunk's map of this size, filters, doubles the size."""

    def __init__(self, channels: int, outputs: int) -> None:
        super().__init__()
        self.out_conv = nn.Conv2d(channels, outputs, 1)
        self.resConfUnit1 = ResidualUnit(channels)
        self.resConfUnit2 = ResidualUnit(channels)

    def forward(self, x: Tensor, skip: Tensor | None = None) -> Tensor:
        """(B, channels, H, W), and the trunk's map of the same shape, to (B, outputs, 2H, 2W)."""
        if skip is not None:
            x = x + self.resConfUnit1(skip)
        x = functional.interpolate(self.resConfUnit2(x), scale_factor=2.0, mode="bilinear", align_corners=True)
        return self.out_conv(x)  # type: ignore[no-any-return]


class Output(nn.Module):
    """From the finest map of the decoder to one channel at full size; one level deep as in the published names."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.output_conv = nn.Sequential(
            nn.Conv2d(channels, 32, 3, padding=1),
            nn.Upsample(scale_factor=2.0, mode="bilinear", align_corners=False),
            nn.Conv2d(32, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 1, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to (B, 1, 2H, 2W)."""
        return self.output_conv(x)  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """Four maps of the trunk, coarse to fine, into one."""

    def __init__(self) -> None:
        super().__init__()
        self.layer1_rn = nn.Conv2d(32, 64, 3, padding=1, bias=False)
        self.layer2_rn = nn.Conv2d(48, 128, 3, padding=1, bias=False)
        self.layer3_rn = nn.Conv2d(136, 256, 3, padding=1, bias=False)
        self.layer4_rn = nn.Conv2d(384, 512, 3, padding=1, bias=False)
        self.refinenet4 = Fusion(512, 256)  # no map to add: its `resConfUnit1` is published but never runs
        self.refinenet3 = Fusion(256, 128)
        self.refinenet2 = Fusion(128, 64)
        self.refinenet1 = Fusion(64, 64)
        self.output_conv = Output(64)

    def forward(self, maps: tuple[Tensor, Tensor, Tensor, Tensor]) -> Tensor:
        """The trunk's maps, of strides 4 to 32, to (B, 1, H, W) at stride 1."""
        x = self.refinenet4(self.layer4_rn(maps[3]))
        x = self.refinenet3(x, self.layer3_rn(maps[2]))
        x = self.refinenet2(x, self.layer2_rn(maps[1]))
        x = self.refinenet1(x, self.layer1_rn(maps[0]))
        return self.output_conv(x)  # type: ignore[no-any-return]


class ScaleMapLearner(nn.Module):
    """Aligned inverse depth and scale map to the factor of inverse depth. The image is not an input."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU())
        self.pretrained = Trunk()
        self.scratch = Decoder()

    def forward(self, x: Tensor) -> Tensor:
        """(B, 2, H, W) standardised, H and W multiples of 32, to (B, 1, H, W) scale, >= 0."""
        return functional.relu(1.0 + self.scratch(self.pretrained(self.first(x))))


def predict_scale(network: ScaleMapLearner, x: FloatArray) -> FloatArray:
    """`refinement.Learner` by torch: (1, 2, h, w) to (1, 1, h, w), float32, on the device of the weights."""
    with torch.no_grad():
        scale: Tensor = network(torch.from_numpy(x).to(next(network.parameters()).device))
    return np.asarray(scale.cpu().numpy(), np.float32)

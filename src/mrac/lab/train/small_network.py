"""The network of the method `fast`: the embedded one's encoder, and a decoder that ends at a quarter of the size."""

from typing import cast

from torch import Tensor, nn
from torch.nn import functional

from mrac.gpu.network import Convolution, Encoder, Refine

_CHANNELS = (192, 128, 96, 64)  # of the decoder at strides 32, 16, 8 and 4
_GREY = 127.0  # what lies beyond the image: where `DepthNetwork` has 0, after it has normalised


class MapAttention(nn.Module):
    """`Attention` with 1×1 convolutions for its linear layers, which become 8-bit convolutions like all others.

    Matrix products in single precision were a twentieth of the 8-bit network's time.
    """

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.position = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.norm1, self.norm2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.qkv, self.out = nn.Conv2d(channels, 3 * channels, 1), nn.Conv2d(channels, channels, 1)
        self.up, self.down = nn.Conv2d(channels, 2 * channels, 1), nn.Conv2d(2 * channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, h, w) to the same shape."""
        x = x + self.position(x)
        B, C, h, w = x.shape
        width = C // self.heads
        parts = self.qkv(_normalised(self.norm1, x)).reshape(B, 3, self.heads, width, h * w)
        query, key, value = parts.unbind(1)
        share = (query.transpose(2, 3) @ (key * width**-0.5)).softmax(-1)
        x = x + self.out((value @ share.transpose(2, 3)).reshape(B, C, h, w))
        map_BChw: Tensor = x + self.down(functional.gelu(self.up(_normalised(self.norm2, x))))
        return map_BChw


class SmallNetwork(nn.Module):
    """Image to log depth at half the input's size, as `DepthNetwork`, in 0.7 of its time in 8 bits.

    Its decoder has no stage at stride 2, which is a quarter of the other's time. The encoder's map of that size enters
    at stride 4, four pixels as one, and each pixel there gives four of the depth. The image is not normalised: the
    first norm does that.
    """

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder(2)
        self.encoder.stem.border = None  # `forward` has one of another value
        side, own = self.encoder.channels, _CHANNELS
        self.reduce = Convolution(side[4], own[0])
        self.context = nn.Sequential(*(MapAttention(own[0], 4) for _ in range(2)))
        self.refine = nn.ModuleList(Refine(own[i], side[3 - i], own[i + 1]) for i in range(3))
        self.detail = Convolution(side[0], own[3], 2, stride=2, act=False)
        self.out = nn.Conv2d(own[3], 4, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.ones_(cast("Tensor", self.out.bias))  # as `DepthNetwork`

    def forward(self, image: Tensor) -> Tensor:
        """(B, 3, H, W) RGB in [0, 255], H and W multiples of 32, to (B, 1, H / 2, W / 2) log depth."""
        return self.finish(*self.begin(image))

    def begin(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What `DepthNetwork` computes too: the decoder's map at stride 8, the encoder's at strides 4 and 2."""
        maps = self.encoder(functional.pad(image, (0, 1, 0, 1), value=_GREY))
        x = self.context(self.reduce(maps[4]))
        for refine, side in zip(self.refine[:2], (maps[3], maps[2]), strict=True):
            x = refine(x, side)
        return x, maps[1], maps[0]

    def finish(self, x: Tensor, at_4: Tensor, at_2: Tensor) -> Tensor:
        """From the maps of `begin` to log depth, by the layers of `last_layers`."""
        refine = cast("Refine", self.refine[2])
        x = functional.interpolate(refine.reduce(x), scale_factor=2.0, mode="bilinear", align_corners=False)
        x = refine.mix(x + refine.side(at_4) + self.detail(at_2))
        return functional.pixel_shuffle(self.out(x), 2)

    def last_layers(self) -> tuple[nn.Module, ...]:
        """Those that have another task here than in `DepthNetwork`, or are not there."""
        return self.refine[2], self.detail, self.out


def _normalised(norm: nn.Module, x: Tensor) -> Tensor:
    """A layer norm over the channels of a (B, C, h, w) map."""
    y: Tensor = norm(x.permute(0, 2, 3, 1))
    return y.permute(0, 3, 1, 2)

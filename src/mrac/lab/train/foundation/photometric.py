"""What another camera, another lamp or a worse lens would have made of the same picture. Depth stays."""

import torch
from torch import Tensor
from torch.nn import functional


def vary_colours(image_B3HW: Tensor, generator: torch.Generator, strength: float = 1.0) -> Tensor:
    """Exposure, contrast, gamma, white balance, mixing of the channels, grey, blur and noise, each by its own chance.

    Args:
        image_B3HW: float32 RGB in [0, 255].
        generator: on the image's device.
        strength: 1 as we train; 0 gives the image back, black a quarter of a grey level brighter.

    Returns:
        The same shape and range.
    """
    B, device = len(image_B3HW), image_B3HW.device

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, device=device)

    def chance(p: float) -> Tensor:
        return (torch.rand(B, 1, 1, 1, generator=generator, device=device) < p * strength).float()

    x = image_B3HW / 255.0
    mix_B33 = torch.eye(3, device=device) + 0.06 * strength * normal(B, 3, 3)
    grey = torch.tensor([0.299, 0.587, 0.114], device=device).expand(B, 3, 3)
    saturation = (0.35 * strength * normal(B, 1, 1)).clamp(-0.9, 0.9)
    all_grey = chance(0.08)[:, 0]
    mix_B33 = (mix_B33 * (1.0 + saturation) - grey * saturation) * (1.0 - all_grey) + grey * all_grey
    x = torch.einsum("bij,bjhw->bihw", mix_B33, x)
    x = x * torch.exp(0.10 * strength * normal(B, 3, 1, 1)) * torch.exp(0.25 * strength * normal(B, 1, 1, 1))
    mean = x.mean(dim=(1, 2, 3), keepdim=True)
    x = (x - mean) * torch.exp(0.2 * strength * normal(B, 1, 1, 1)) + mean
    x = x.clamp(1e-3, 1.0) ** torch.exp(0.25 * strength * normal(B, 1, 1, 1))
    soft = functional.avg_pool2d(functional.pad(x, (1, 1, 1, 1), mode="replicate"), 3, stride=1)
    x = torch.lerp(x, soft, chance(0.3) * torch.rand(B, 1, 1, 1, generator=generator, device=device) * 1.5)
    noise = 0.02 * torch.rand(B, 1, 1, 1, generator=generator, device=device) * chance(0.5)
    x = x + noise * normal(*x.shape)
    return x.clamp(0.0, 1.0) * 255.0


def hide_patches(image_B3HW: Tensor, generator: torch.Generator, share: float = 0.3, most: float = 0.35) -> Tensor:
    """Paints one rectangle, of up to `most` of each side, in a `share` of the images: depth there must be inferred.

    Returns:
        The same shape.
    """
    B, _, H, W = image_B3HW.shape
    device = image_B3HW.device

    def uniform() -> Tensor:
        return torch.rand(B, 1, 1, generator=generator, device=device)

    height, width = uniform() * most * H, uniform() * most * W
    top, left = uniform() * (H - height), uniform() * (W - width)
    rows, columns = torch.arange(H, device=device)[None, :, None], torch.arange(W, device=device)[None, None, :]
    inside = (rows >= top) & (rows < top + height) & (columns >= left) & (columns < left + width)
    hidden = (inside & (uniform() < share))[:, None]
    return torch.where(hidden, 255.0 * torch.rand(B, 3, 1, 1, generator=generator, device=device), image_B3HW)

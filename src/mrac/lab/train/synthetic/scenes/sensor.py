"""From linear light to a picture: exposure, white balance, vignetting, blur, noise and the display curve."""

import torch
from torch import Tensor
from torch.nn import functional

from mrac.lab.train.synthetic.scenes.dice import Dice


def _blur(image_B3HW: Tensor, sigma_B: Tensor) -> Tensor:
    """Gaussian blur of ±2 pixels with a width per image, sigma in pixels."""
    steps = torch.arange(-2, 3, device=sigma_B.device)
    weight = torch.exp(-0.5 * (steps / sigma_B[:, None].clamp_min(0.05)).square())
    weight = weight / weight.sum(1, keepdim=True)
    height, width = image_B3HW.shape[2:]
    padded = functional.pad(image_B3HW, (2, 2, 2, 2), mode="replicate")
    across = sum(
        (padded[..., k : k + width] * weight[:, k, None, None, None] for k in range(5)), torch.zeros(()).to(padded)
    )
    return sum(
        (across[:, :, k : k + height] * weight[:, k, None, None, None] for k in range(5)), torch.zeros(()).to(padded)
    )


def expose(dice: Dice, light_B3HW: Tensor) -> Tensor:
    """A camera's picture of linear light.

    Args:
        dice: The batch's randomness.
        light_B3HW: Linear light, 0 or more.

    Returns:
        (B, 3, H, W) in [0, 1], display-coded.
    """
    height, width = light_B3HW.shape[2:]
    # A camera meters in the middle of the tones: a mean of the square root is less moved by lamps and windows.
    level = light_B3HW.clamp(0, 4).sqrt().mean((1, 2, 3)).square()
    gain = dice.between(0.06, 0.28) / level.clamp_min(1e-4)
    balance = torch.exp(0.08 * dice.normal(3))
    image = light_B3HW * (gain[:, None] * balance)[:, :, None, None]
    # Cameras steepen the tones about mid-grey.
    steepness = dice.between(0.95, 1.5)[:, None, None, None]
    image = 0.18 * (image.clamp_min(1e-5) / 0.18) ** steepness
    y = torch.linspace(-1, 1, height, device=image.device)[:, None]
    x = torch.linspace(-1, 1, width, device=image.device)[None, :]
    image = image * (1 - dice.between(0.0, 0.2)[:, None, None, None] * (x * x + y * y))
    image = _blur(image, dice.between(0.35, 0.75))
    noise = dice.normal(3, height, width)
    # Photon noise grows with the square root of the light; a floor stands for read-out noise.
    sigma = dice.between(0.0, 0.05)[:, None, None, None]
    image = image + sigma * noise * (image.clamp_min(0) + 0.01).sqrt()
    image = image.clamp_min(0)
    # A soft shoulder: real pictures seldom clip hard.
    image = torch.where(image < 0.7, image, 0.7 + 0.3 * (1 - torch.exp((0.7 - image) / 0.3)))
    return image.clamp(0, 1).clamp_min(1e-6).pow(1 / 2.2)

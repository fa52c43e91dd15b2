"""Draws the surface of every primitive from the look of its role."""

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.dice import Dice, constant
from mrac.lab.train.synthetic.scenes.roles import LOOKS, Role, Texture

_MAX_TEXTURES = 8


@cache
def _tables(device: torch.device) -> tuple[Tensor, Tensor]:
    """The looks as tensors: numbers (roles, 14) and texture choices (roles, 8)."""
    numbers, textures = [], []
    for role in Role:
        look = LOOKS[role]
        flags = [look.contrast, look.gloss, look.glow, look.photo, float(look.own), look.present]
        numbers.append([*look.hue, *look.saturation, *look.value, *look.metres, *flags])
        repeats = -(-_MAX_TEXTURES // len(look.textures))
        textures.append([int(t) for t in (look.textures * repeats)[:_MAX_TEXTURES]])
    return torch.tensor(numbers, device=device), torch.tensor(textures, device=device)


@dataclass(frozen=True)
class Materials:
    """Surfaces of all primitives.

    Attributes:
        colour: (B, P, 6). Two colours, linear light in [0, 1].
        texture: (B, P). Pattern, a `Texture`.
        variant: (B, P). Which variant of the pattern, in [0, 1).
        numbers: (B, P, 6). Metres per tile, offsets u and v in tiles, gloss, glow, gain of a coloured texture.
        present: (B, P). Whether the primitive is there.
    """

    colour: Tensor
    texture: Tensor
    variant: Tensor
    numbers: Tensor
    present: Tensor


def hsv_to_rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    """Colours from three tensors of one shape in [0, 1]; a last axis of 3 is added."""
    offset = constant((5.0, 3.0, 1.0), hue.device)
    k = (offset + 6 * hue[..., None]) % 6
    return value[..., None] * (1 - saturation[..., None] * torch.minimum(k, 4 - k).clamp(0, 1))


def sample_materials(dice: Dice, role_BP: Tensor, group_P: Tensor, *, photographs: bool) -> Materials:
    """Draws the surface of every primitive from its role.

    Args:
        dice: The batch's randomness.
        role_BP: `Role` of each primitive, int64.
        group_P: The piece that each primitive belongs to; boxes of one piece and role look alike.
        photographs: Whether the atlas holds photographs.
    """
    numbers, textures = _tables(dice.device)
    look = numbers[role_BP]
    num_groups, num_roles = 64, len(Role)
    shared = dice.rand(num_groups * num_roles, 12).gather(
        1, (group_P * num_roles + role_BP)[..., None].expand(-1, -1, 12)
    )
    u = torch.where(look[..., 12:13] > 0.5, dice.rand(role_BP.shape[1], 12), shared)

    def span(column: int, draw: Tensor) -> Tensor:
        return look[..., column] + (look[..., column + 1] - look[..., column]) * draw

    def brightness(draw: Tensor) -> Tensor:
        # Even in the logarithm, as the albedo of real things is: dark ones are as common as light ones.
        return look[..., 4] * (look[..., 5] / look[..., 4]) ** draw

    hue, saturation, value = span(0, u[..., 0]), span(2, u[..., 1].square()), brightness(u[..., 2])
    first = hsv_to_rgb(hue, saturation, value)
    other = hsv_to_rgb((hue + 0.3 * (u[..., 3] - 0.5)) % 1, span(2, u[..., 4].square()), brightness(u[..., 5]))
    contrast = look[..., 8:9]
    second = first * torch.exp(-2 * contrast * u[..., 6:7])
    second = second + contrast * (other - second) * u[..., 7:8]
    texture = textures[role_BP, (u[..., 8] * _MAX_TEXTURES).long()]
    if photographs:
        texture = torch.where(u[..., 9] < look[..., 11], int(Texture.PHOTO), texture)
    metres = span(6, u[..., 10])
    offset = dice.rand(role_BP.shape[1], 2)
    rest = torch.stack((look[..., 9], look[..., 10], 0.35 + 0.65 * u[..., 2]), -1)
    return Materials(
        colour=torch.cat((first, second.clamp(0.005, 1)), -1),
        texture=texture,
        variant=u[..., 11],
        numbers=torch.cat((metres[..., None], offset, rest), -1),
        present=dice.rand(role_BP.shape[1]) < look[..., 13],
    )

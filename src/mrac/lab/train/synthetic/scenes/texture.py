"""An atlas of surface patterns, drawn afresh for each batch, and its lookup with mip-maps and mirrored repetition."""

import torch
from torch import Tensor
from torch.nn import functional

from mrac.lab.train.synthetic.scenes.dice import Dice

SIZE = 256
NUM_LEVELS = 7


def _value_noise(dice: Dice, count: int, rows: int, columns: int) -> Tensor:
    """Smooth noise in [0, 1], shape (count, 256, 256), with this many knots."""
    return functional.interpolate(dice.plain(count, 1, rows, columns), (SIZE, SIZE), mode="bilinear")[:, 0]


def _octaves(dice: Dice, count: int, decay: float, lowest: int = 2) -> Tensor:
    """Noise summed over octaves, stretched to about [0, 1], shape (count, 256, 256)."""
    total, weight = torch.zeros(count, SIZE, SIZE, device=dice.device), 1.0
    for level in range(lowest, 9):
        total += weight * (_value_noise(dice, count, 2**level, 2**level) - 0.5)
        weight *= decay
    return (0.5 + 0.22 * total / total.std((1, 2), keepdim=True)).clamp(0, 1)


def _cells(dice: Dice, count: int, rows: Tensor, columns: Tensor, shift: float) -> tuple[Tensor, Tensor]:
    """A brick pattern: a random level per brick and a joint mask, each (count, 256, 256); rows and columns (count,)."""
    at = (torch.arange(SIZE, device=dice.device) + 0.5) / SIZE
    v = at[None, :, None] * rows[:, None, None]
    row = v.floor()
    u = at[None, None, :] * columns[:, None, None] + shift * (row % 2)
    column = u.floor()
    table = dice.plain(count, 32, 32)
    index = (row.long() % 32) * 32 + column.long() % 32
    level = table.flatten(1).gather(1, index.flatten(1)).view(count, SIZE, SIZE)
    edge = torch.minimum(
        torch.minimum(u - column, 1 - (u - column)) / columns[:, None, None],
        torch.minimum(v - row, 1 - (v - row)) / rows[:, None, None],
    )
    width = 0.003 + 0.006 * dice.plain(count, 1, 1)
    return level, (edge < width).float()


def _counts(dice: Dice, count: int, low: int, high: int) -> Tensor:
    return (low + (high - low + 1) * dice.plain(count)).floor()


def _facade(dice: Dice, count: int) -> Tensor:
    """Rows of windows with frames on a plain wall: 0 wall, 1 glass, between for frames."""
    rows, columns = _counts(dice, count, 2, 5)[:, None, None], _counts(dice, count, 2, 6)[:, None, None]
    at = (torch.arange(SIZE, device=dice.device) + 0.5) / SIZE
    v, u = (at[None, :, None] * rows) % 1, (at[None, None, :] * columns) % 1
    half_u, half_v = 0.18 + 0.2 * dice.plain(count, 1, 1), 0.2 + 0.2 * dice.plain(count, 1, 1)
    x, y = (u - 0.5).abs() / half_u, (v - 0.5).abs() / half_v
    reach = torch.maximum(x, y)
    bars = (x < 0.06) | ((y < 0.05) & (dice.plain(count, 1, 1) < 0.5))
    glass = 0.75 + 0.25 * _octaves(dice, count, 0.6)
    wall = 0.15 * _octaves(dice, count, 0.8)
    return torch.where(reach < 0.88, torch.where(bars, 0.2, glass), torch.where(reach < 1, 0.1, wall))


def _grey_patterns(dice: Dice, variants: int) -> list[Tensor]:
    """The patterns that blend between two colours, in the order of `Texture`, each (variants, 256, 256)."""
    at = (torch.arange(SIZE, device=dice.device) + 0.5) / SIZE
    grain = _octaves(dice, variants, 1.0, lowest=5)
    cloud = _octaves(dice, variants, 0.6)
    planks, _ = joints = _cells(dice, variants, _counts(dice, variants, 4, 10), _counts(dice, variants, 1, 2), 0.5)
    fibre = _value_noise(dice, variants, 128, 6) * 0.6 + _value_noise(dice, variants, 32, 3) * 0.4
    wood = (0.55 * fibre + 0.35 * planks + 0.1 * cloud) * (1 - 0.3 * joints[1]) + 0.3 * joints[1]
    level, joint = _cells(dice, variants, _counts(dice, variants, 8, 14), _counts(dice, variants, 3, 6), 0.5)
    brick = torch.where(joint > 0, 1.0, 0.5 * level + 0.2 * grain)
    count = _counts(dice, variants, 2, 6)
    level, joint = _cells(dice, variants, count, count, 0.0)
    tile = torch.where(joint > 0, 1.0, 0.25 * level + 0.2 * cloud)
    count = _counts(dice, variants, 3, 12)[:, None, None]
    stripe = ((at[None, None, :] * count) % 1 < 0.3 + 0.4 * dice.plain(variants, 1, 1)).float()
    check = (((at[None, None, :] * count).floor() + (at[None, :, None] * count).floor()) % 2) * 0.8
    level, joint = _cells(dice, variants, _counts(dice, variants, 5, 24), _counts(dice, variants, 8, 14), 0.5)
    keys = torch.where((joint > 0) | (level < 0.15), 1.0, 0.1 * level)
    worn = 0.15 * grain
    plain = _octaves(dice, variants, 0.5, lowest=1)
    carpet = 0.7 * grain + 0.3 * cloud
    flat = [stripe.expand(-1, SIZE, -1) * 0.85 + worn, check + worn, keys + 0.3 * worn]
    leaves = ((_octaves(dice, variants, 0.9, lowest=4) - 0.5) * 2 + 0.5).clamp(0, 1)
    return [plain, cloud, carpet, wood, brick, tile, *flat, _facade(dice, variants), leaves]


def _coloured_patterns(dice: Dice, variants: int) -> list[Tensor]:
    """Book spines and posters, each (variants, 3, 256, 256), linear light."""
    patterns = []
    for low, high, rows in ((14, 30, 1), (2, 5, 6)):
        table = dice.plain(variants, 3, 32, 32) ** 1.5
        grey = table.mean(1, keepdim=True)
        table = grey + (table - grey) * 0.8
        warp = 0.15 * (_value_noise(dice, variants, 1, 24) - 0.5)
        at = (torch.arange(SIZE, device=dice.device) + 0.5) / SIZE
        number = _counts(dice, variants, low, high)[:, None, None]
        column = ((at[None, None, :] + warp * (1 if rows == 1 else 3)) * number).floor().long() % 32
        row = ((at[None, :, None] + 0 * warp) * _counts(dice, variants, 1, rows)[:, None, None]).floor().long() % 32
        index = (row * 32 + column).flatten(1)[:, None].expand(-1, 3, -1)
        colours = table.flatten(2).gather(2, index).reshape(variants, 3, SIZE, SIZE)
        patterns.append(colours * (0.8 + 0.4 * _octaves(dice, variants, 0.9)[:, None]))
    return patterns


def _crops(dice: Dice, photographs: Tensor, count: int) -> Tensor:
    """Random square crops, resized by nearest sample to 256 pixels, linear light, shape (count, 3, 256, 256)."""
    num, _, height, width = photographs.shape
    side = min(height, width)
    crop = side * (0.15 + 0.6 * dice.plain(count, 1) ** 2)
    at = (torch.arange(SIZE, device=dice.device) + 0.5) / SIZE
    y = (dice.plain(count, 1) * (height - crop) + at * crop).long().clamp(0, height - 1)
    x = (dice.plain(count, 1) * (width - crop) + at * crop).long().clamp(0, width - 1)
    which = (dice.plain(count) * num).long()
    pixels = photographs[which[:, None, None], :, y[:, :, None], x[:, None, :]]
    return (pixels.permute(0, 3, 1, 2).float() / 255) ** 2.2


def _natural(dice: Dice, photographs: Tensor | None, count: int) -> Tensor:
    """Brightness of photograph crops without what is larger than an eighth of them; (count, 256, 256).

    Noise where there are no photographs.
    """
    if photographs is None:
        return _octaves(dice, count, 0.75)
    grey = _crops(dice, photographs, count).mean(1, keepdim=True).clamp_min(1e-3).log()
    small = functional.interpolate(functional.avg_pool2d(grey, 32), (SIZE, SIZE), mode="bilinear")
    detail = (grey - small)[:, 0]
    # Not stretched to a set contrast: that would turn the faint outlines of plain crops into reliefs.
    return 0.5 + 0.5 * detail


def build_atlas(dice: Dice, photographs: Tensor | None, variants: int) -> Tensor:
    """Draws all patterns and their mip-maps.

    Args:
        dice: The batch's randomness.
        photographs: (N, 3, h, w) uint8 on the same device, or None.
        variants: How many of each pattern.

    Returns:
        (texels, 3): level by level, within a level pattern by pattern (`Texture` · variants + variant), row by row.
    """
    grey = (
        torch.stack([*_grey_patterns(dice, variants), _natural(dice, photographs, variants)]).clamp(0, 1).flatten(0, 1)
    )
    coloured = torch.stack(_coloured_patterns(dice, variants)).clamp(0, 1).flatten(0, 1)
    parts = [grey[:, None].expand(-1, 3, -1, -1), coloured]
    if photographs is not None:
        parts.append(_crops(dice, photographs, variants))
    level = torch.cat(parts)
    levels = []
    for _ in range(NUM_LEVELS):
        levels.append(level.permute(0, 2, 3, 1).reshape(-1, 3))
        level = functional.avg_pool2d(level, 2)
    return torch.cat(levels)


def _tap(atlas: Tensor, picture: Tensor, uv: tuple[Tensor, Tensor], level: Tensor, num_pictures: int) -> Tensor:
    """Bilinear lookup at one mip level per sample; all inputs of shape (S,), returns (S, 3)."""
    size = SIZE >> level
    # Texels of all finer levels: num · 256² · (1 + 1/4 + ...), a geometric sum.
    start = (num_pictures * (SIZE * SIZE * 4 - size * size * 4)) // 3
    start = start + picture * size * size
    ends = []
    for coordinate in uv:
        # Mirrored repetition: no seams, whatever the picture.
        folded = (1 - (coordinate % 2 - 1).abs()) * size - 0.5
        lower = folded.floor()
        limit = size - 1
        first, second = torch.minimum(lower.long().clamp_min(0), limit), torch.minimum(lower.long() + 1, limit)
        ends.append((first, second, (folded - lower)[:, None]))
    (x0, x1, fx), (y0, y1, fy) = ends
    top = torch.lerp(atlas[start + y0 * size + x0], atlas[start + y0 * size + x1], fx)
    bottom = torch.lerp(atlas[start + y1 * size + x0], atlas[start + y1 * size + x1], fx)
    return torch.lerp(top, bottom, fy)


def look_up(atlas: Tensor, picture: Tensor, uv: tuple[Tensor, Tensor], footprint: Tensor) -> Tensor:
    """Trilinear lookup.

    Args:
        atlas: From `build_atlas`.
        picture: Which picture of the atlas, int64, shape (S,).
        uv: Coordinates in tiles, each (S,).
        footprint: How many tiles one pixel covers, (S,).

    Returns:
        (S, 3) in [0, 1].
    """
    num_pictures = len(atlas) // sum((SIZE >> n) ** 2 for n in range(NUM_LEVELS))
    level = (footprint * SIZE).clamp_min(1e-6).log2().clamp(0, NUM_LEVELS - 1.001)
    base = level.floor()
    fine = _tap(atlas, picture, uv, base.long(), num_pictures)
    coarse = _tap(atlas, picture, uv, base.long() + 1, num_pictures)
    return torch.lerp(fine, coarse, (level - base)[:, None])

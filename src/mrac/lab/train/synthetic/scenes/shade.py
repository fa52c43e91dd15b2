"""Turns nearest hits into linear light: surface frames, textures, lights, shadows of the first light, dark corners."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from mrac.lab.train.synthetic.scenes import texture
from mrac.lab.train.synthetic.scenes.cast import Vector, cast
from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.materials import Materials
from mrac.lab.train.synthetic.scenes.roles import FIRST_COLOURED, Texture
from mrac.lab.train.synthetic.scenes.scene import Pieces, SceneBatch


@dataclass(frozen=True)
class Hits:
    """What the camera rays met, all (B, H, W) or three of them.

    Attributes:
        z: Depth along the optical axis, metres; infinite for the sky.
        number: Primitive number, as from `cast`.
        point: World position, metres; of the sky some far point.
        ray: World direction, camera z component 1.
    """

    z: Tensor
    number: Tensor
    point: Vector
    ray: Vector


@dataclass(frozen=True)
class Surface:
    """The surface at each pixel, (B, H, W) each or three of them.

    Attributes:
        normal: Unit normal in the world, towards the camera's side.
        uv_m: Two coordinates along the surface, metres.
        inside: Whether it belongs to the shell.
    """

    normal: Vector
    uv_m: tuple[Tensor, Tensor]
    inside: Tensor


def geometry(scene: SceneBatch) -> Tensor:
    """Frames of all primitives, (B, P, 17): rotation to the world 9, centre 3, half 3, bulge (−1 for boxes), facing."""
    num_images = len(scene.eye)
    centre, half = (scene.shell_low + scene.shell_high) / 2, (scene.shell_high - scene.shell_low) / 2
    identity = torch.eye(3, device=centre.device).flatten().expand(num_images, 6, 9)
    ones = torch.ones(num_images, 6, 1, device=centre.device)
    rows = [torch.cat((identity, centre[:, None].expand(-1, 6, -1), half[:, None].expand(-1, 6, -1), -ones, -ones), -1)]

    def of(pieces: Pieces, *, boxes: bool) -> Tensor:
        local = pieces.centre[..., None, :]
        world = (pieces.rotation[:, :, None] * local).sum(-1) + pieces.origin[:, :, None]
        rotation = pieces.rotation.flatten(2)[:, :, None].expand(-1, -1, world.shape[2], -1)
        bulge = torch.full_like(pieces.bulge, -1.0) if boxes else pieces.bulge
        facing = torch.ones_like(bulge)
        row = torch.cat((rotation, world, pieces.half, bulge[..., None], facing[..., None]), -1)
        return row.flatten(1, 2)

    return torch.cat((*rows, of(scene.boxes, boxes=True), of(scene.rounds, boxes=False)), 1)


def take(rows_BPF: Tensor, number_BHW: Tensor) -> Tensor:
    """The row of each pixel's primitive, (F, B, H, W)."""
    num_images, num_primitives, width = rows_BPF.shape
    start = torch.arange(num_images, device=number_BHW.device)[:, None, None] * num_primitives
    picked = rows_BPF.reshape(-1, width)[(start + number_BHW).flatten()]
    return picked.T.reshape(width, *number_BHW.shape)


def surfaces(scene: SceneBatch, hits: Hits) -> Surface:
    """Normals and surface coordinates from the hit points."""
    g = take(geometry(scene), hits.number)
    to_world = g[:9].reshape(3, 3, *hits.z.shape)
    offset = [hits.point[i] - g[9 + i] for i in range(3)]
    p = [to_world[0, i] * offset[0] + to_world[1, i] * offset[1] + to_world[2, i] * offset[2] for i in range(3)]
    half = g[12:15].clamp_min(1e-6)
    bulge, facing = g[15], g[16]
    q = [(p[i] / half[i]) for i in range(3)]
    reach = [c.abs() for c in q]
    # The face a point lies on is the one whose bound it reaches; ties at edges go to the first.
    along_x = (reach[0] >= reach[1]) & (reach[0] >= reach[2])
    along_y = ~along_x & (reach[1] >= reach[2])
    is_box, is_cap = bulge < -0.5, (bulge == 0) & (reach[1] > 0.9999)
    zero = torch.zeros_like(q[0])
    gradient = [q[0] / half[0], bulge * q[1] / half[1], q[2] / half[2]]
    face = [along_x, along_y, ~along_x & ~along_y]
    n = [
        torch.where(
            is_box,
            torch.where(face[i], q[i].sign(), zero),
            torch.where(is_cap, q[1].sign() if i == 1 else zero, gradient[i]),
        )
        for i in range(3)
    ]
    length = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt().clamp_min(1e-9)
    n = [facing * c / length for c in n]
    normal = tuple(to_world[i, 0] * n[0] + to_world[i, 1] * n[1] + to_world[i, 2] * n[2] for i in range(3))
    around = torch.atan2(p[0], p[2]) * (half[0] + half[2]) / 2
    flat = torch.where(is_box, along_y, is_cap)
    u = torch.where(flat, p[0], torch.where(is_box, torch.where(along_x, p[2], p[0]), around))
    v = torch.where(flat, p[2], -p[1])
    return Surface((normal[0], normal[1], normal[2]), (u, v), facing < 0)


def albedo(
    hits: Hits, surface: Surface, materials: Materials, atlas: tuple[Tensor, int], f_px_B: Tensor
) -> tuple[Tensor, Tensor]:
    """Surface colour (3, B, H, W) in linear light, and gloss and glow (2, B, H, W)."""
    texels, variants = atlas
    picture = (materials.texture * variants + (materials.variant * variants).long()).float()[..., None]
    own = (materials.texture >= int(FIRST_COLOURED)).float()[..., None]
    m = take(torch.cat((materials.colour, materials.numbers, picture, own), -1), hits.number)
    metres = m[6]
    facing = sum((surface.normal[i] * hits.ray[i] for i in range(3)), torch.zeros_like(metres)).abs()
    length = sum((hits.ray[i].square() for i in range(3)), torch.zeros_like(metres)).sqrt()
    # A slanted surface's footprint is long in one direction only; the square root is the compromise of one mip level.
    z = hits.z.clamp_max(1e4)
    footprint = z / f_px_B[:, None, None] / (facing / length).clamp_min(0.03).sqrt() / metres
    uv = ((surface.uv_m[0] / metres + 7 * m[7]).flatten(), (surface.uv_m[1] / metres + 7 * m[8]).flatten())
    pattern = texture.look_up(texels, m[12].long().flatten(), uv, footprint.flatten())
    pattern = pattern.T.reshape(3, *metres.shape)
    blended = m[0:3] + (m[3:6] - m[0:3]) * pattern
    colour = torch.where(m[13] > 0.5, pattern * m[11], blended)
    # Wear and dirt: no real surface is as clean as a pattern. A finer natural texture darkens and lightens it.
    fine = (m[12] % variants).long().flatten() + int(Texture.NATURAL) * variants
    wear = texture.look_up(texels, fine, (uv[1] * 2.3, uv[0] * 2.3), 2.3 * footprint.flatten())[:, 0]
    # Fainter on large surfaces, where mirrored repetition would read as relief.
    strength = 0.9 * m[8].square() * (0.5 / metres).clamp_max(1.0)
    return colour * torch.exp(strength * (wear.reshape(metres.shape) - 0.5)), m[9:11]


def shadow(scene: SceneBatch, hits: Hits, surface: Surface, dice: Dice) -> Tensor:
    """How much of the first light reaches each pixel, 0 to 1, (B, H, W).

    Cast at half resolution towards points jittered around the light, then smoothed: soft edges, a quarter of the cost.
    """

    def half(x: Tensor) -> Tensor:
        return x[:, ::2, ::2]

    origin = tuple(half(hits.point[i] + 0.01 * surface.normal[i]) for i in range(3))
    ahead = [scene.light[:, 0, i, None, None] - origin[i] for i in range(3)]
    distance = (ahead[0] ** 2 + ahead[1] ** 2 + ahead[2] ** 2).sqrt().clamp_min(1e-6)
    # The light's half width seen from the surface, in radians: from the sun's crispness to a large lampshade's.
    width = dice.between(0.005, 0.06)[:, None, None] * distance
    jitter = dice.normal(3, *distance.shape[1:])
    ahead = [ahead[i] + width * jitter[:, i] for i in range(3)]
    distance = (ahead[0] ** 2 + ahead[1] ** 2 + ahead[2] ** 2).sqrt().clamp_min(1e-6)
    ray = (ahead[0] / distance, ahead[1] / distance, ahead[2] / distance)
    # `cast` ignores what is nearer than its clip; rays start that much earlier so that contacts still cast shadows.
    start = tuple(origin[i] - 0.09 * ray[i] for i in range(3))
    limit = distance + 0.09
    nothing = (limit, torch.zeros_like(limit, dtype=torch.long))
    t, _ = cast(scene, ((start[0], start[1], start[2]), ray), nothing)
    lit = (t >= limit).float()[:, None]
    lit = functional.avg_pool2d(functional.pad(lit, (2, 2, 2, 2), mode="replicate"), 5, stride=1)
    return functional.interpolate(lit, hits.z.shape[1:], mode="bilinear")[:, 0]


def corners(scene: SceneBatch, hits: Hits, surface: Surface) -> Tensor:
    """Ambient light left near floors and walls, 0 to 1, (B, H, W): cheap ambient occlusion."""
    open_share = torch.ones_like(hits.z)
    for axis in range(3):
        low = hits.point[axis] - scene.shell_low[:, axis, None, None]
        high = scene.shell_high[:, axis, None, None] - hits.point[axis]
        dark = 0.35 * (torch.exp(-low.clamp_min(0) / 0.25) + torch.exp(-high.clamp_min(0) / 0.25))
        # A wall does not darken itself.
        itself = surface.inside & (surface.normal[axis].abs() > 0.5)
        open_share = open_share * torch.where(itself, 1.0, 1 - dark)
    z = hits.z.clamp(max=200)[:, None]
    around = functional.avg_pool2d(functional.pad(z, (6, 6, 6, 6), mode="replicate"), 13, stride=1)
    behind = ((z - around) / (0.03 * z + 0.02)).clamp(0, 1)[:, 0]
    return open_share * (1 - 0.25 * behind)


def light_up(scene: SceneBatch, hits: Hits, surface: Surface, lit: Tensor, colour: tuple[Tensor, Tensor]) -> Tensor:
    """Linear light (3, B, H, W) from `shadow` and `albedo`; the sky is left to the caller."""
    albedo_3, extra = colour
    open_share = corners(scene, hits, surface)
    sky_side = 0.75 + 0.25 * surface.normal[1]
    diffuse = scene.ambient[:, None, None] * open_share * sky_side
    length = sum((hits.ray[i].square() for i in range(3)), torch.zeros_like(hits.z)).sqrt()
    shine = torch.zeros_like(diffuse)
    for number in range(2):
        ahead = [scene.light[:, number, i, None, None] - hits.point[i] for i in range(3)]
        square = ahead[0] ** 2 + ahead[1] ** 2 + ahead[2] ** 2
        distance = square.sqrt().clamp_min(1e-6)
        cosine = sum((surface.normal[i] * ahead[i] for i in range(3)), torch.zeros_like(square)) / distance
        reach = scene.reach[:, number, None, None]
        strength = scene.power[:, number, None, None] / (1 + square / reach.square())
        strength = strength * (lit if number == 0 else 0.5 + 0.5 * open_share)
        diffuse = diffuse + strength * cosine.clamp_min(0)
        between = [ahead[i] / distance - hits.ray[i] / length for i in range(3)]
        norm = (between[0] ** 2 + between[1] ** 2 + between[2] ** 2).sqrt().clamp_min(1e-6)
        mirror = sum((surface.normal[i] * between[i] for i in range(3)), torch.zeros_like(square)) / norm
        shine = shine + strength * mirror.clamp_min(0).pow(40) * (cosine > 0)
    return albedo_3 * (diffuse + extra[1]) + 0.5 * extra[0] * shine

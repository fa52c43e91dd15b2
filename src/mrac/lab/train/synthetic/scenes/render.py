"""One batch of freshly made scenes: image and exact depth."""

from dataclasses import replace

import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.cast import cast, cast_shell, rotate
from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.foreground import sample_foreground
from mrac.lab.train.synthetic.scenes.gardens import sample_gardens
from mrac.lab.train.synthetic.scenes.materials import sample_materials
from mrac.lab.train.synthetic.scenes.place import join, without_parts
from mrac.lab.train.synthetic.scenes.roles import Texture
from mrac.lab.train.synthetic.scenes.rooms import sample_rooms
from mrac.lab.train.synthetic.scenes.scene import SceneBatch, mix
from mrac.lab.train.synthetic.scenes.sensor import expose
from mrac.lab.train.synthetic.scenes.shade import Hits, albedo, light_up, shadow, surfaces
from mrac.lab.train.synthetic.scenes.streets import sample_streets
from mrac.lab.train.synthetic.scenes.table_tops import sample_table_tops
from mrac.lab.train.synthetic.scenes.texture import build_atlas, look_up

# Rooms, streets, table tops, gardens; fewest streets, of which the real data has most besides rooms.
_MIX = (0, 0, 1, 2, 2, 3, 3)
_KINDS = (sample_rooms, sample_streets, sample_table_tops, sample_gardens)


def sample_scenes(dice: Dice) -> SceneBatch:
    """Makes up one scene per image: a room, a street, a table top or a garden, some with things before the camera."""
    scene = mix(dice.one_of(_MIX), tuple(sampler(dice) for sampler in _KINDS))
    return replace(scene, rounds=join(scene.rounds, sample_foreground(dice, scene)))


def trace(scene: SceneBatch, size: tuple[int, int]) -> tuple[Hits, Tensor]:
    """Casts the camera rays; returns what they met and the focal lengths (B,) in pixels."""
    height, width = size
    device = scene.eye.device
    f_px_B = width / (2 * scene.tan_half_fov)
    # Pixel centres are integers (see conventions), so the middle of the image is at (W − 1)/2.
    x = (torch.arange(width, device=device) - (width - 1) / 2)[None, None, :] / f_px_B[:, None, None]
    y = (torch.arange(height, device=device) - (height - 1) / 2)[None, :, None] / f_px_B[:, None, None]
    ray = rotate(scene.rotation, (x, y, torch.ones_like(f_px_B)[:, None, None]))
    eye = tuple(scene.eye[:, i, None, None] for i in range(3))
    origin = (eye[0], eye[1], eye[2])
    rays = (origin, ray)
    z, number = cast(scene, rays, cast_shell(scene, rays))
    far = z.clamp_max(1e4)
    point = (origin[0] + far * ray[0], origin[1] + far * ray[1], origin[2] + far * ray[2])
    return Hits(z, number, point, ray), f_px_B


def _sky(scene: SceneBatch, hits: Hits, dice: Dice, atlas: tuple[Tensor, int]) -> Tensor:
    """Light of the sky, (3, B, H, W): pale at the horizon, blue or grey above, with clouds on a level ceiling."""
    up = (hits.ray[1] / (hits.ray[0] ** 2 + hits.ray[1] ** 2 + hits.ray[2] ** 2).sqrt()).clamp(0, 1)
    blue = dice.rand()[:, None] * dice.constant((0.75, 0.45, 0.0))
    zenith = (1 - blue) * dice.between(0.8, 1.6)[:, None]
    horizon = torch.ones_like(zenith) * dice.between(1.2, 1.8)[:, None]
    mixed = up.sqrt()[None] * (zenith - horizon).T[..., None, None] + horizon.T[..., None, None]
    texels, variants = atlas
    picture = (dice.rand() * variants).long() + int(Texture.CLOUD) * variants
    level = (up + 0.08).reciprocal() * 0.12
    shift = dice.rand()[:, None, None]
    uv = ((hits.ray[0] * level + shift).flatten(), (hits.ray[2] * level + shift).flatten())
    cloud = look_up(texels, picture[:, None, None].expand_as(up).flatten(), uv, 0.004 * level.flatten())[:, 0]
    cover = dice.between(0.0, 1.2)[:, None, None] * (cloud.view(up.shape) - 0.4).clamp(0, 1) * 2
    mixed = mixed + (1.6 - mixed) * cover.clamp(0, 1)
    return mixed * scene.ambient[:, None, None]


def render(dice: Dice, scene: SceneBatch, size: tuple[int, int], photographs: Tensor | None) -> tuple[Tensor, Tensor]:
    """Renders scenes.

    Args:
        dice: The batch's randomness: the same state gives the same pictures on the same device.
        scene: B scenes.
        size: Height and width in pixels.
        photographs: (N, 3, h, w) uint8 pictures whose patches texture some of the surfaces; None for patterns only.

    Returns:
        The images, (B, 3, H, W) float32 in [0, 1], display-coded; and the depth along the optical axis, (B, 1, H, W)
        float32 in metres, infinite for the sky, which has none.
    """
    boxes, rounds = scene.boxes.role, scene.rounds.role
    role_BP = torch.cat((scene.shell_role, boxes.flatten(1), rounds.flatten(1)), 1)
    num_boxes, num_rounds = boxes.shape[1], rounds.shape[1]
    # The k-th round piece shares its looks with the k-th piece of boxes: a car's roof has its body's paint.
    groups = torch.arange(1 + max(num_boxes, num_rounds), device=dice.device)
    group_P = torch.cat(
        (
            groups[:1].expand(6),
            groups[1 : 1 + num_boxes].repeat_interleave(boxes.shape[2]),
            groups[1 : 1 + num_rounds].repeat_interleave(rounds.shape[2]),
        )
    )
    materials = sample_materials(dice, role_BP, group_P, photographs=photographs is not None)
    first_round = 6 + num_boxes * boxes.shape[2]
    absent = ~materials.present
    scene = replace(
        scene,
        boxes=without_parts(scene.boxes, absent[:, 6:first_round].view(boxes.shape)),
        rounds=without_parts(scene.rounds, absent[:, first_round:].view(rounds.shape)),
    )
    hits, f_px_B = trace(scene, size)
    surface = surfaces(scene, hits)
    variants = min(6, 1 + dice.num_images)
    atlas = build_atlas(dice, photographs, variants)
    lit = shadow(scene, hits, surface, dice)
    light = light_up(scene, hits, surface, lit, albedo(hits, surface, materials, (atlas, variants), f_px_B))
    sky = _sky(scene, hits, dice, (atlas, variants))
    # Haze: far things take the colour of the horizon.
    haze = 1 - torch.exp(-hits.z / dice.between(150.0, 900.0)[:, None, None])
    haze = torch.where(scene.outdoors[:, None, None], haze, torch.zeros_like(haze))
    light = light + (sky - light) * haze
    return expose(dice, light.movedim(0, 1)), hits.z[:, None]

"""One batch of freshly made scenes: image and exact depth."""

from typing import Literal

import torch
from torch import Tensor

from mrac.errors import ContractError
from mrac.lab.train.synthetic.scenes.cast import cast, cast_shell, rotate
from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.materials import sample_materials
from mrac.lab.train.synthetic.scenes.roles import Texture
from mrac.lab.train.synthetic.scenes.rooms import sample_rooms
from mrac.lab.train.synthetic.scenes.scene import Pieces, Scene, mix
from mrac.lab.train.synthetic.scenes.sensor import expose
from mrac.lab.train.synthetic.scenes.shade import Hits, albedo, light_up, shadow, surfaces
from mrac.lab.train.synthetic.scenes.streets import sample_streets
from mrac.lab.train.synthetic.scenes.table_tops import sample_table_tops
from mrac.lab.train.synthetic.scenes.texture import build_atlas, look_up

Kind = Literal["room", "street", "table_top"]
_SAMPLERS = {"room": sample_rooms, "street": sample_streets, "table_top": sample_table_tops}
# A mixed batch: two rooms in five, as that is where most of the real data is too.
_MIX = (0, 0, 1, 2, 2)


def render_batch(
    num_images: int,
    size: tuple[int, int],
    *,
    generator: torch.Generator,
    device: torch.device | str,
    kind: Kind | None = None,
    photographs: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Makes up scenes and renders them.

    Args:
        num_images: B, one scene each.
        size: Height and width in pixels.
        generator: The only source of randomness: the same state gives the same batch on the same device. One on
            `device` spares the host from waiting.
        device: Where to render.
        kind: What to render; None mixes rooms, streets and table tops.
        photographs: (N, 3, h, w) uint8 pictures whose patches texture some of the surfaces; None for patterns only.
            Keep them on `device`: they are moved there otherwise, each time.

    Returns:
        The images, (B, 3, H, W) float32 in [0, 1], display-coded; and the depth along the optical axis, (B, 1, H, W)
        float32 in metres, infinite for the sky, which has none.

    Raises:
        ContractError: No images, an empty size, an unknown kind, or photographs of another shape or type.
    """
    _check(num_images, size, kind, photographs)
    dice = Dice(generator, num_images, torch.device(device))
    with torch.no_grad():
        scene = sample_scenes(dice, kind)
        pictures = None if photographs is None else photographs.to(dice.device)
        return render(dice, scene, size, pictures)


def _check(num_images: int, size: tuple[int, int], kind: str | None, photographs: Tensor | None) -> None:
    where = "train/scenes"
    if num_images < 1 or min(size) < 2:
        raise ContractError(f"{where}: {num_images} images of {size} pixels; at least 1 image of 2 × 2 needed.")
    if kind is not None and kind not in _SAMPLERS:
        raise ContractError(f"{where}: kind {kind!r}; one of {', '.join(_SAMPLERS)} or None needed.")
    if photographs is not None and (photographs.dtype != torch.uint8 or photographs.shape[1:2] != (3,)):
        got = f"{photographs.dtype} of shape {tuple(photographs.shape)}"
        raise ContractError(f"{where}: photographs are {got}; uint8 of shape (N, 3, h, w) needed.")


def sample_scenes(dice: Dice, kind: Kind | None) -> Scene:
    """Makes up one scene per image."""
    if kind is not None:
        return _SAMPLERS[kind](dice)
    return mix(dice.one_of(_MIX), tuple(sampler(dice) for sampler in _SAMPLERS.values()))


def trace(scene: Scene, size: tuple[int, int]) -> tuple[Hits, Tensor]:
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


def _without(pieces: Pieces, present: Tensor) -> Pieces:
    present_BKN1 = present.view(*pieces.role.shape, 1)
    half = torch.where(present_BKN1, pieces.half, torch.zeros_like(pieces.half))
    return Pieces(**{**vars(pieces), "half": half})


def _sky(scene: Scene, hits: Hits, dice: Dice, atlas: tuple[Tensor, int]) -> Tensor:
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


def render(dice: Dice, scene: Scene, size: tuple[int, int], photographs: Tensor | None) -> tuple[Tensor, Tensor]:
    """Renders scenes that are already made; see `render_batch`."""
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
    scene = Scene(
        **{
            **vars(scene),
            "boxes": _without(scene.boxes, materials.present[:, 6:first_round]),
            "rounds": _without(scene.rounds, materials.present[:, first_round:]),
        }
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

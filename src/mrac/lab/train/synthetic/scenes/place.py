"""Scales templates and stands them where they belong."""

from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.bodies import BODIES
from mrac.lab.train.synthetic.scenes.clutter import CLUTTER
from mrac.lab.train.synthetic.scenes.dice import Dice, constant
from mrac.lab.train.synthetic.scenes.furniture import FURNITURE
from mrac.lab.train.synthetic.scenes.pieces import Body, Piece, Template
from mrac.lab.train.synthetic.scenes.roles import Role
from mrac.lab.train.synthetic.scenes.scene import NUM_BOXES, NUM_ROUNDS, Pieces, matrix, yaw_rotation

# Small things on a surface differ most from one to the next: they are resized and shifted one by one.
_LOOSE = (Role.ITEM, Role.PAPER, Role.BOOKS)


@dataclass(frozen=True)
class _Table:
    """Templates as tensors: T templates of N parts."""

    size: Tensor
    top: Tensor
    centre: Tensor
    half: Tensor
    bulge: Tensor
    role: Tensor
    loose: Tensor


def _box_row(part: tuple[float, ...]) -> list[float]:
    x0, x1, y0, y1, z0, z1, role = part
    return [(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2, (x1 - x0) / 2, (y1 - y0) / 2, (z1 - z0) / 2, 0.0, role]


@cache
def _table(kind: str, device: torch.device) -> _Table:
    templates: list[Template] = (
        [{**FURNITURE, **CLUTTER}[piece] for piece in Piece] if kind == "boxes" else [BODIES[body] for body in Body]
    )
    width = NUM_BOXES if kind == "boxes" else NUM_ROUNDS
    rows = torch.zeros(len(templates), width, 8)
    for t, template in enumerate(templates):
        for n, part in enumerate(template.parts):
            rows[t, n] = torch.tensor(_box_row(part) if kind == "boxes" else list(part))
    role = rows[..., 7].long()
    loose = torch.zeros(len(Role))
    loose[list(_LOOSE)] = 1.0
    size = torch.tensor([[t.low, t.high] for t in templates])
    top = torch.tensor([t.top for t in templates], dtype=torch.float32)
    tensors = (size, top, rows[..., :3], rows[..., 3:6], rows[..., 6], role, loose[role])
    return _Table(*(tensor.to(device) for tensor in tensors))


def sizes(dice: Dice, which_BK: Tensor, *, rounds: bool = False) -> Tensor:
    """Draws width, height and depth in metres of the templates `which_BK`, shape (B, K, 3)."""
    size_BK23 = _table("rounds" if rounds else "boxes", dice.device).size[which_BK]
    return dice.between(size_BK23[..., 0, :], size_BK23[..., 1, :], which_BK.shape[1], 3)


def top_height(which_BK: Tensor, size_BK3: Tensor) -> Tensor:
    """Height above its own base of a box template's free upper surface, metres; 0 where nothing can stand."""
    return _table("boxes", which_BK.device).top[which_BK] * size_BK3[..., 1]


def stand(
    dice: Dice, which_BK: Tensor, size_BK3: Tensor, origin: Tensor, yaw_BK: Tensor, *, rounds: bool = False
) -> Pieces:
    """Stands templates in the world.

    Args:
        dice: The batch's randomness.
        which_BK: Template, a `Piece` (or a `Body` for `rounds`), int64.
        size_BK3: Width, height and depth, metres.
        origin: (B, K, 3). The middle of the base, metres.
        yaw_BK: Direction of the front, radians from the world's z towards its x.
        rounds: Whether these are round bodies.
    """
    table = _table("rounds" if rounds else "boxes", dice.device)
    num_pieces, num_parts = which_BK.shape[1], table.role.shape[1]
    centre, half, loose = table.centre[which_BK], table.half[which_BK], table.loose[which_BK][..., None]
    stretch = 1 + loose * (dice.rand(num_pieces, num_parts, 3) - 0.6) * 0.8
    # Heights stay: what lies on a thing must keep touching it.
    stretch[..., 1] = 1.0
    scale = size_BK3[:, :, None]
    return Pieces(
        rotation=yaw_rotation(yaw_BK),
        origin=origin,
        centre=centre * scale,
        half=half * stretch * scale,
        bulge=table.bulge[which_BK],
        role=table.role[which_BK],
    )


def random_rotation(dice: Dice, count: int) -> Tensor:
    """(B, count, 3, 3) rotations, every orientation as likely: from unit quaternions."""
    q = dice.normal(count, 4)
    w, x, y, z = (q / q.norm(dim=-1, keepdim=True).clamp_min(1e-6)).unbind(-1)
    return matrix(
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
        2 * (x * z - w * y),
        2 * (y * z + w * x),
        1 - 2 * (x * x + y * y),
    )


def keep_within(pieces: Pieces, low_BK3: Tensor, high_BK3: Tensor) -> Pieces:
    """Shifts pieces level until they lie between bounds in x and z (metres); one too large is narrowed to fit."""
    rotation = pieces.rotation[:, :, None]
    centre = (rotation * pieces.centre[..., None, :]).sum(-1)
    reach = (rotation.abs() * pieces.half[..., None, :]).sum(-1)
    present = (pieces.half > 0).all(-1, keepdim=True)
    least = torch.where(present, centre - reach, torch.inf).amin(2)
    most = torch.where(present, centre + reach, -torch.inf).amax(2)
    level = constant((1.0, 0.0, 1.0), least.device)
    wide = (most - least)[..., ::2].clamp_min(1e-6)
    narrow = ((high_BK3 - low_BK3)[..., ::2] / wide).amin(-1, keepdim=True).clamp_max(1.0)
    up, down = low_BK3 - pieces.origin - least * narrow, high_BK3 - pieces.origin - most * narrow
    shift = torch.where(
        present.any(2), torch.minimum(up.clamp_min(0.0), down.clamp_min(0.0)) + down.clamp_max(0.0), 0.0
    )
    scale = 1 + (narrow - 1) * level
    return replace(
        pieces,
        origin=pieces.origin + shift * level,
        centre=pieces.centre * scale[:, :, None],
        half=pieces.half * scale[:, :, None],
    )


def too_close(pieces: Pieces, eye_B3: Tensor, metres: float) -> Tensor:
    """Whether any part of a piece comes this near to the camera, (B, K)."""
    offset = (eye_B3[:, None] - pieces.origin)[..., None]
    local = (pieces.rotation * offset).sum(-2)[:, :, None]
    gap = ((local - pieces.centre).abs() - pieces.half).clamp_min(0).square().sum(-1)
    return ((gap < metres**2) & (pieces.half > 0).all(-1)).any(-1)


def without(pieces: Pieces, gone_BK: Tensor) -> Pieces:
    """The pieces less some of them."""
    return without_parts(pieces, gone_BK[..., None])


def without_parts(pieces: Pieces, gone_BKN: Tensor) -> Pieces:
    """The pieces less some of their primitives."""
    return replace(pieces, half=torch.where(gone_BKN[..., None], torch.zeros_like(pieces.half), pieces.half))


def join(*parts: Pieces) -> Pieces:
    """Puts pieces side by side along K."""
    names = ("rotation", "origin", "centre", "half", "bulge", "role")
    return Pieces(**{name: torch.cat([getattr(part, name) for part in parts], 1) for name in names})


def loose_boxes(low_BN3: Tensor, high_BN3: Tensor, role_BN: Tensor) -> Pieces:
    """One piece of boxes given by their corners in the world; a box with high < low is absent."""
    num_images = len(low_BN3)
    identity = torch.eye(3, device=low_BN3.device).expand(num_images, 1, 3, 3)
    half = (high_BN3 - low_BN3) / 2
    half = torch.where((half > 0).all(-1, keepdim=True), half, torch.zeros_like(half))
    return Pieces(
        rotation=identity,
        origin=torch.zeros_like(low_BN3[:, :1]),
        centre=((low_BN3 + high_BN3) / 2)[:, None],
        half=half[:, None],
        bulge=torch.zeros_like(role_BN, dtype=torch.float32)[:, None],
        role=role_BN[:, None],
    )

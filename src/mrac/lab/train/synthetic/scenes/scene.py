"""A batch of scenes as padded tensors of primitives, the same layout for every kind, so that kinds mix in one batch.

The world is x right, y up, z ahead, in metres. A scene is the inside of one box (the shell: a room, or the ground and
the sky), G pieces of N boxes and R pieces of M round bodies; a piece is a rigid frame, and absent primitives have no
extent. A round body is an elliptic cylinder about its frame's y, or an ellipsoid.
"""

from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

NUM_PIECES, NUM_BOXES = 10, 8
NUM_ROUND_PIECES, NUM_ROUNDS = 7, 4
_NESTED = ("boxes", "rounds")


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Rigid groups of primitives; K pieces of N.

    Attributes:
        rotation: (B, K, 3, 3). Frame to world.
        origin: (B, K, 3). The frame's origin in the world, metres.
        centre: (B, K, N, 3). Centres in the frame, metres.
        half: (B, K, N, 3). Half extents in the frame, metres; all zero where there is nothing.
        bulge: 1 for an ellipsoid, 0 for a cylinder; not read for boxes.
        role: (B, K, N). `Role`, int64.
    """

    rotation: Tensor
    origin: Tensor
    centre: Tensor
    half: Tensor
    bulge: Tensor
    role: Tensor


@dataclass(frozen=True, kw_only=True)
class SceneBatch:
    """A batch of scenes and the cameras in them.

    Attributes:
        eye: (B, 3). Camera centre, metres.
        rotation: (B, 3, 3). Camera (x right, y down, z ahead) to world.
        tan_half_fov: (B,). Tangent of half the horizontal field of view.
        shell_low: (B, 3). The shell's lowest corner, metres.
        shell_high: (B, 3). The shell's highest corner, metres.
        shell_role: (B, 6). `Role` of the faces −x, +x, −y (floor), +y, −z, +z.
        outdoors: (B,). Whether all faces of the shell but the floor are sky.
        boxes: G pieces of boxes.
        rounds: R pieces of round bodies.
        light: (B, 2, 3). Where the two lights are, metres. The first casts shadows.
        power: (B, 2). Their strength.
        reach: (B, 2). Distance at which a light has fallen to half, metres.
        ambient: (B,). Light from everywhere.
    """

    eye: Tensor
    rotation: Tensor
    tan_half_fov: Tensor
    shell_low: Tensor
    shell_high: Tensor
    shell_role: Tensor
    outdoors: Tensor
    boxes: Pieces
    rounds: Pieces
    light: Tensor
    power: Tensor
    reach: Tensor
    ambient: Tensor


def matrix(*entries: Tensor) -> Tensor:
    """Nine tensors of one shape, row by row, as matrices (..., 3, 3)."""
    return torch.stack(entries, -1).reshape(*entries[0].shape, 3, 3)


def yaw_rotation(yaw: Tensor) -> Tensor:
    """Rotations about the world's y, shape (..., 3, 3); at yaw ψ the frame's z points to (sin ψ, 0, cos ψ)."""
    c, s, zero, one = yaw.cos(), yaw.sin(), torch.zeros_like(yaw), torch.ones_like(yaw)
    return matrix(c, zero, s, zero, one, zero, -s, zero, c)


def camera_rotation(yaw_B: Tensor, pitch_B: Tensor, roll_B: Tensor) -> Tensor:
    """Camera to world, shape (B, 3, 3); angles in radians, a positive pitch looks up.

    The world is left-handed here (x right, y up, z ahead), so this holds a reflection; nothing depends on handedness.
    """
    zero, one = torch.zeros_like(yaw_B), torch.ones_like(yaw_B)
    cp, sp, cr, sr = pitch_B.cos(), pitch_B.sin(), roll_B.cos(), roll_B.sin()
    tilt = matrix(one, zero, zero, zero, -cp, sp, zero, sp, cp)
    roll = matrix(cr, -sr, zero, sr, cr, zero, zero, zero, one)
    return compose(compose(yaw_rotation(yaw_B), tilt), roll)


def compose(a: Tensor, b: Tensor) -> Tensor:
    """Matrix products of (..., 3, 3), as sums: `matmul` may run in TF32, which is too coarse for exact depth."""
    return (a[..., :, :, None] * b[..., None, :, :]).sum(-2)


def mix(kind_B: Tensor, scenes: tuple[SceneBatch, ...]) -> SceneBatch:
    """For each image the scene of its kind: `kind_B` indexes `scenes`."""
    rows = torch.arange(len(kind_B), device=kind_B.device)

    def pick(items: tuple[Tensor, ...]) -> Tensor:
        return torch.stack(items)[kind_B, rows]

    def pick_pieces(items: tuple[Pieces, ...]) -> Pieces:
        return Pieces(**{f.name: pick(tuple(getattr(item, f.name) for item in items)) for f in fields(Pieces)})

    values: dict[str, Any] = {
        f.name: pick(tuple(getattr(s, f.name) for s in scenes)) for f in fields(SceneBatch) if f.name not in _NESTED
    }
    boxes, rounds = pick_pieces(tuple(s.boxes for s in scenes)), pick_pieces(tuple(s.rounds for s in scenes))
    return SceneBatch(**values, boxes=boxes, rounds=rounds)

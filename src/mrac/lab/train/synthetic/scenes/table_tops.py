"""Table tops: a cluttered desk or table near the camera, in a furnished room."""

import math

import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.pieces import Body, Piece
from mrac.lab.train.synthetic.scenes.place import join, keep_within, sizes, stand, too_close, without
from mrac.lab.train.synthetic.scenes.rooms import along_walls, cells, indoor_lights, sample_shell, shell_of, wall_things
from mrac.lab.train.synthetic.scenes.scene import NUM_PIECES, NUM_ROUND_PIECES, Pieces, SceneBatch, camera_rotation

_OFFICE = (
    Piece.MONITOR,
    Piece.MONITOR,
    Piece.STACK,
    Piece.ROW,
    Piece.PAPERS,
    Piece.PAPERS,
    Piece.GADGETS,
    Piece.GADGETS,
    Piece.LAPTOP,
    Piece.CARTONS,
)
_HOME = (Piece.STACK, Piece.GADGETS, Piece.GADGETS, Piece.GADGETS, Piece.CARTONS, Piece.PAPERS, Piece.NOTHING)
_SMALL = (
    Body.BOTTLES,
    Body.MUGS,
    Body.MUGS,
    Body.MUGS,
    Body.DESK_LAMP,
    Body.FRUIT,
    Body.PLANT,
    Body.BOTTLES,
    Body.NOTHING,
)
_BEHIND = (Piece.CHAIR, Piece.SHELF, Piece.ARMCHAIR, Piece.DESK, Piece.CUPBOARD, Piece.DESK, Piece.CARTONS)
_NUM_ON_DESK = 5
_NUM_BEHIND = NUM_PIECES - _NUM_ON_DESK - 2


def _spots(dice: Dice, count: int) -> Tensor:
    """Places on a table, (B, count, 3), as shares of its width and depth from its middle.

    Stratified across the table, so that things seldom stand in one another.
    """
    slot = dice.rand(count).argsort(1)[..., None] + 0.5 + (dice.rand(count, 1) - 0.5) * 0.6
    across = slot / count - 0.5
    return torch.cat((across, torch.zeros_like(across), (dice.rand(count, 1) - 0.5) * 0.9), -1)


def _clutter(dice: Dice, size_B13: Tensor, middle_B13: Tensor) -> tuple[Pieces, Pieces]:
    """Boxes and round bodies that rest on a table of this size whose top has its middle there."""
    half = size_B13 / 2 * dice.constant((1.0, 0.0, 1.0))
    which = torch.where(dice.chance(0.65, 1), dice.one_of(_OFFICE, _NUM_ON_DESK), dice.one_of(_HOME, _NUM_ON_DESK))
    size = sizes(dice, which) * torch.where(which == int(Piece.CARTONS), 0.35, 1.0)[..., None]
    yaw = math.pi + 0.4 * dice.normal(_NUM_ON_DESK)
    things = stand(dice, which, size, middle_B13 + _spots(dice, _NUM_ON_DESK) * size_B13, yaw)
    body = dice.one_of(_SMALL, NUM_ROUND_PIECES)
    body_size = sizes(dice, body, rounds=True) * torch.where(body == int(Body.PLANT), 0.35, 1.0)[..., None]
    spot = middle_B13 + _spots(dice, NUM_ROUND_PIECES) * size_B13
    bodies = stand(dice, body, body_size, spot, dice.between(-math.pi, math.pi, NUM_ROUND_PIECES), rounds=True)
    low, high = middle_B13 - half, middle_B13 + half
    return keep_within(things, low, high), keep_within(bodies, low, high)


def _camera(dice: Dice, shell_B3: Tensor, size_B3: Tensor, middle_B3: Tensor) -> tuple[Tensor, Tensor]:
    """Camera centres (B, 3) and rotations: a hand-held camera that looks down at the table."""
    pitch, above = dice.between(math.radians(10), math.radians(60)), dice.between(0.3, 1.2)
    reach = (above / pitch.tan()).clamp_max(1.8)
    aim = middle_B3 + (dice.rand(3) - 0.5) * size_B3 * dice.constant((1.0, 0.0, 1.0))
    yaw = 0.6 * dice.normal() + torch.where(dice.chance(0.15), math.pi, 0.0)
    ahead = torch.stack((yaw.sin(), torch.zeros_like(yaw), yaw.cos()), -1)
    eye = aim - reach[:, None] * ahead + above[:, None] * dice.constant((0.0, 1.0, 0.0))
    limit = shell_B3 * dice.constant((0.5, 1.0, 0.5)) - 0.15
    eye = torch.minimum(torch.maximum(eye, -limit), limit)
    roll = math.radians(6) * dice.normal().clamp(-2.3, 2.3)
    return eye, camera_rotation(yaw + 0.1 * dice.normal(), -pitch, roll)


def sample_table_tops(dice: Dice) -> SceneBatch:
    """Makes up desks and tables seen from above, at arm's length to a few metres."""
    shell = sample_shell(dice)
    desk = dice.one_of((Piece.OPEN_DESK, Piece.OPEN_DESK, Piece.BARE_TABLE), 1)
    desk_size = sizes(dice, desk)
    back = shell[:, 2] / 2 - desk_size[:, 0, 2] / 2 - 0.01
    z = torch.where(dice.chance(0.6), back, (dice.rand() - 0.3) * 0.4 * shell[:, 2])
    x = (dice.rand() - 0.5) * 0.3 * shell[:, 0]
    origin = torch.stack((x, torch.zeros_like(x), z), -1)[:, None]
    # The desk's back is towards +z: its front, and mostly the camera, are on the other side.
    table = stand(dice, desk, desk_size, origin, torch.full_like(z, math.pi)[:, None])
    middle = origin + dice.constant((0.0, 1.0, 0.0)) * desk_size
    things, bodies = _clutter(dice, desk_size, middle)
    eye, rotation = _camera(dice, shell, desk_size[:, 0], middle[:, 0])
    behind = dice.one_of(_BEHIND, _NUM_BEHIND)
    behind_size = sizes(dice, behind)
    cell = cells(dice, shell, torch.stack((eye, middle[:, 0]), 1)[..., ::2], _NUM_BEHIND)
    place, facing = along_walls(dice, shell, cell, behind_size)
    half = shell[:, None] / 2
    background = keep_within(stand(dice, behind, behind_size, place, facing), -half, half)
    return SceneBatch(
        eye=eye,
        rotation=rotation,
        tan_half_fov=torch.tan(dice.between(math.radians(22), math.radians(38))),
        boxes=join(
            table,
            without(things, too_close(things, eye, 0.25)),
            without(background, too_close(background, eye, 0.3)),
            wall_things(dice, shell),
        ),
        rounds=without(bodies, too_close(bodies, eye, 0.25)),
        **shell_of(dice, shell),
        **indoor_lights(dice, shell),
    )

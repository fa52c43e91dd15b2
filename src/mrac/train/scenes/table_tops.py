"""Table tops: a cluttered desk near the camera, in a furnished room."""

import math

import torch

from mrac.train.scenes.dice import Dice
from mrac.train.scenes.pieces import Body, Piece
from mrac.train.scenes.place import join, sizes, stand
from mrac.train.scenes.rooms import along_walls, cells, indoor_lights, sample_shell, shell_of, wall_things
from mrac.train.scenes.scene import NUM_PIECES, NUM_ROUND_PIECES, Scene, camera_rotation

_ON_DESK = (
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
    Piece.NOTHING,
)
_SMALL = (Body.BOTTLES, Body.MUGS, Body.MUGS, Body.DESK_LAMP, Body.FRUIT, Body.PLANT, Body.NOTHING)
_BEHIND = (Piece.CHAIR, Piece.SHELF, Piece.ARMCHAIR, Piece.DESK, Piece.CUPBOARD, Piece.DESK, Piece.CARTONS)
_NUM_ON_DESK, _NUM_BEHIND = 4, NUM_PIECES - 6


def sample_table_tops(dice: Dice) -> Scene:
    """Makes up desks seen from above, at arm's length to a few metres."""
    shell = sample_shell(dice)
    device = dice.device
    flat = torch.tensor([1.0, 0.0, 1.0], device=device)
    desk = dice.one_of((int(Piece.OPEN_DESK),), 1)
    desk_size = sizes(dice, desk)
    against = dice.chance(0.6)
    back = shell[:, 2] / 2 - desk_size[:, 0, 2] / 2 - 0.01
    z = torch.where(against, back, (dice.rand() - 0.3) * 0.4 * shell[:, 2])
    zero = torch.zeros_like(z)
    # The desk's back is towards +z: its front, and mostly the camera, look the other way.
    origin = torch.stack((zero + (dice.rand() - 0.5) * 0.3 * shell[:, 0], zero, z), -1)[:, None]
    table = stand(dice, desk, desk_size, origin, torch.full((dice.num_images, 1), math.pi, device=device))
    up = torch.tensor([0.0, 1.0, 0.0], device=device) * desk_size[:, :, 1:2]

    def spots(count: int) -> torch.Tensor:
        # Stratified across the desk, so that things seldom stand in one another.
        slot = dice.rand(count).argsort(1)[..., None] + 0.5 + (dice.rand(count, 1) - 0.5) * 0.5
        across = (slot / count - 0.5) * 0.9
        deep = (dice.rand(count, 1) - 0.5) * 0.7
        return origin + up + torch.cat((across, torch.zeros_like(across), deep), -1) * desk_size * flat

    which = dice.one_of([int(p) for p in _ON_DESK], _NUM_ON_DESK)
    size = sizes(dice, which)
    size = torch.where((which == int(Piece.CARTONS))[..., None], size * 0.35, size)
    turn = math.pi + 0.5 * dice.normal(_NUM_ON_DESK)
    things = stand(dice, which, size, spots(_NUM_ON_DESK), turn)
    body = dice.one_of([int(b) for b in _SMALL], NUM_ROUND_PIECES)
    body_size = sizes(dice, body, rounds=True) * torch.where(body == int(Body.PLANT), 0.4, 1.0)[..., None]
    bodies = stand(
        dice, body, body_size, spots(NUM_ROUND_PIECES), dice.between(-3.0, 3.0, NUM_ROUND_PIECES), rounds=True
    )

    pitch = dice.between(math.radians(10), math.radians(60))
    above = dice.between(0.3, 1.2)
    reach = (above / pitch.tan()).clamp_max(1.8)
    aim = origin[:, 0] + up[:, 0] + (dice.rand(3) - 0.5) * desk_size[:, 0] * flat
    yaw = 0.6 * dice.normal() + torch.where(dice.chance(0.15), math.pi, 0.0)
    ahead = torch.stack((yaw.sin(), zero, yaw.cos()), -1)
    eye = aim - reach[:, None] * ahead + above[:, None] * torch.tensor([0.0, 1.0, 0.0], device=device)
    limit = shell * torch.tensor([0.5, 2.0, 0.5], device=device) - 0.15
    eye = torch.minimum(torch.maximum(eye, -limit), limit)
    behind = dice.one_of([int(p) for p in _BEHIND], _NUM_BEHIND)
    behind_size = sizes(dice, behind)
    cell = cells(dice, shell, eye[:, [0, 2]], _NUM_BEHIND)
    place, facing = along_walls(dice, shell, cell, behind_size)
    return Scene(
        eye=eye,
        rotation=camera_rotation(yaw + 0.1 * dice.normal(), -pitch, math.radians(6) * dice.normal().clamp(-2.3, 2.3)),
        tan_half_fov=torch.tan(dice.between(math.radians(22), math.radians(38))),
        boxes=join(table, things, stand(dice, behind, behind_size, place, facing), wall_things(dice, shell)),
        rounds=bodies,
        **shell_of(dice, shell),
        **indoor_lights(dice, shell),
    )

"""Streets: a road between pavements and buildings, parked and moving cars, trees and poles, under a sky."""

import math

import torch
from torch import Tensor

from mrac.train.scenes.dice import Dice
from mrac.train.scenes.pieces import Body, Piece
from mrac.train.scenes.place import join, loose_boxes, sizes, stand
from mrac.train.scenes.roles import Role
from mrac.train.scenes.scene import NUM_BOXES, NUM_PIECES, NUM_ROUND_PIECES, Pieces, Scene, camera_rotation, matrix

_NUM_CARS = NUM_PIECES - 3
_NUM_WHEELED = 3


def _buildings(dice: Dice, side: float, kerb_B: Tensor) -> Pieces:
    """Eight buildings in a row on one side, metres; some are missing, and gardens show."""
    length = dice.between(7.0, 26.0, NUM_BOXES)
    start = length.cumsum(1) - length - dice.between(5.0, 20.0)[:, None]
    setback = dice.between(2.0, 5.0)[:, None] + dice.rand(1) * dice.between(0.0, 10.0, NUM_BOXES)
    near = kerb_B[:, None] + setback
    height = dice.between(3.5, 8.0)[:, None] + dice.between(0.0, 10.0)[:, None] * dice.rand(NUM_BOXES)
    gap = dice.rand(1) * dice.between(0.0, 6.0, NUM_BOXES)
    deep = near + dice.between(6.0, 15.0, NUM_BOXES)
    x0, x1 = (near, deep) if side > 0 else (-deep, -near)
    low = torch.stack((x0, torch.zeros_like(x0), start + gap), -1)
    high = torch.stack((x1, height, start + length), -1)
    green = dice.chance(0.12, NUM_BOXES)
    role = torch.where(green, int(Role.LEAF), int(Role.FACADE))
    return loose_boxes(low, high, role)


def _ground(dice: Dice, half_road_B: Tensor, walk_B2: Tensor) -> Pieces:
    """Pavements, lane marks and lawns as low boxes."""
    half, one = half_road_B[:, None], torch.ones(dice.num_images, 1, device=half_road_B.device)
    far, step = 250 * one, dice.between(0.06, 0.16)[:, None]
    boxes = []
    for side, column in ((-1, 0), (1, 1)):
        inner, outer = half * side, (half + walk_B2[:, column : column + 1]) * side
        lawn = outer + side * 60 * one
        for a, b, top in ((inner, outer, step), (outer, lawn, step * 1.05)):
            boxes.append((torch.minimum(a, b), 0 * one, -20 * one, torch.maximum(a, b), top, far))
    start = dice.between(0.0, 6.0)[:, None]
    mark = 0.06 * one
    for n in range(3):
        z = start + 7 * n
        boxes.append((-mark, 0 * one, z, mark, 0.004 * one, z + 3))
    edge = half - 0.35
    boxes.append((edge, 0 * one, -20 * one, edge + 0.12, 0.004 * one, far))
    rows = torch.stack([torch.cat(box, 1) for box in boxes], 1)
    roles = [Role.PAVEMENT, Role.GRASS, Role.PAVEMENT, Role.GRASS, *[Role.MARKING] * 4]
    role = torch.tensor([int(r) for r in roles], device=rows.device).expand(dice.num_images, -1)
    return loose_boxes(rows[..., :3], rows[..., 3:], role)


def _wheels(size_BK3: Tensor, origin: Tensor, yaw_BK: Tensor) -> Pieces:
    """Two axles per car: cylinders as wide as the car, of which only the wheels show."""
    width, length = size_BK3[..., 0], size_BK3[..., 2]
    radius = 0.19 * size_BK3[..., 1].clamp_max(1.8)
    s, c, zero, one = yaw_BK.sin(), yaw_BK.cos(), torch.zeros_like(yaw_BK), torch.ones_like(yaw_BK)
    # Frame y is the car's x, so that the cylinder lies along the axle.
    rotation = matrix(zero, c, s, one, zero, zero, zero, -s, c)
    rows = []
    for place in (-0.3, 0.31):
        rows.append((torch.stack((radius, zero, place * length), -1), torch.stack((radius, width * 0.505, radius), -1)))
    nothing = torch.zeros_like(rows[0][0])
    centre = torch.stack((rows[0][0], rows[1][0], nothing, nothing), 2)
    half = torch.stack((rows[0][1], rows[1][1], nothing, nothing), 2)
    role = torch.tensor([int(Role.RUBBER)] * 2 + [int(Role.ABSENT)] * 2, device=width.device)
    return Pieces(
        rotation=rotation,
        origin=origin,
        centre=centre,
        half=half,
        bulge=torch.zeros_like(half[..., 0]),
        role=role.expand(*half.shape[:3]),
    )


def sample_streets(dice: Dice) -> Scene:
    """Makes up streets seen from a car or by a pedestrian."""
    half_road, walk = dice.between(3.0, 6.5), dice.between(1.2, 4.0, 2)
    kerb = half_road + walk.amax(1)
    which = dice.one_of([int(Piece.CAR)] * 5 + [int(Piece.VAN)] + [int(Piece.NOTHING)], _NUM_CARS)
    size = sizes(dice, which)
    side = dice.sign(_NUM_CARS)
    parked = dice.chance(0.7, _NUM_CARS)
    lane = torch.where(parked, half_road[:, None] - 0.2 - size[..., 0] / 2, half_road[:, None] * 0.4)
    ahead = 3.0 + 7.5 * (torch.arange(_NUM_CARS, device=dice.device) + dice.rand(_NUM_CARS))
    origin = torch.stack((side * lane, torch.zeros_like(lane), ahead), -1)
    yaw = torch.where(side > 0, 0.0, math.pi) + 0.04 * dice.normal(_NUM_CARS)
    num_bodies = NUM_ROUND_PIECES - _NUM_WHEELED
    body = dice.one_of([int(b) for b in (Body.TREE, Body.TREE, Body.POLES, Body.PERSON, Body.POLES)], num_bodies)
    across = dice.sign(num_bodies) * (half_road[:, None] + walk.amin(1)[:, None] * dice.between(0.2, 0.9, num_bodies))
    body_at = torch.stack((across, torch.zeros_like(across), dice.between(5.0, 40.0, num_bodies)), -1)
    body_size = sizes(dice, body, rounds=True)
    bodies = stand(dice, body, body_size, body_at, torch.zeros_like(across), rounds=True)
    wheels = _wheels(size[:, :_NUM_WHEELED], origin[:, :_NUM_WHEELED], yaw[:, :_NUM_WHEELED])
    on_road = dice.chance(0.7)
    x = torch.where(on_road, (dice.rand() - 0.3) * half_road * 0.8, dice.sign() * (half_road + 0.5 * walk.amin(1)))
    shell = torch.tensor([300.0, 300.0, 400.0], device=dice.device).expand(dice.num_images, 3)
    roles = torch.full((dice.num_images, 6), int(Role.ROAD), device=dice.device)
    sun = torch.stack((dice.between(-60.0, 60.0), dice.between(30.0, 90.0), dice.between(-60.0, 60.0)), -1)
    both = torch.stack((sun, sun * torch.tensor([-1.0, 1.0, -1.0], device=dice.device)), 1)
    clear = dice.rand()
    return Scene(
        eye=torch.stack((x, dice.between(1.4, 2.0), torch.zeros_like(x)), -1),
        rotation=camera_rotation(
            0.12 * dice.normal() + torch.where(dice.chance(0.15), dice.between(-0.8, 0.8), torch.zeros_like(x)),
            math.radians(2.5) * dice.normal(),
            math.radians(1.2) * dice.normal(),
        ),
        tan_half_fov=torch.tan(dice.between(math.radians(22), math.radians(40))),
        shell_low=shell * torch.tensor([-1.0, 0.0, -1.0], device=dice.device),
        shell_high=shell,
        shell_role=roles,
        outdoors=torch.ones(dice.num_images, dtype=torch.bool, device=dice.device),
        boxes=join(
            stand(dice, which, size, origin, yaw),
            _buildings(dice, -1.0, kerb),
            _buildings(dice, 1.0, kerb),
            _ground(dice, half_road, walk),
        ),
        rounds=join(wheels, bodies),
        light=both,
        power=torch.stack((2.0 * clear, 0.2 + 0 * clear), -1),
        reach=torch.full_like(both[..., 0], 200.0),
        ambient=dice.between(0.5, 0.9),
    )

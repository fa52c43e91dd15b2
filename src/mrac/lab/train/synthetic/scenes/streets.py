"""Streets: a road between pavements and buildings, parked and moving cars, trees and poles, under a sky."""

import math

import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.dice import Dice, constant
from mrac.lab.train.synthetic.scenes.pieces import Body, Piece
from mrac.lab.train.synthetic.scenes.place import join, loose_boxes, sizes, stand, too_close, without
from mrac.lab.train.synthetic.scenes.roles import Role
from mrac.lab.train.synthetic.scenes.scene import (
    NUM_BOXES,
    NUM_PIECES,
    NUM_ROUND_PIECES,
    Pieces,
    SceneBatch,
    camera_rotation,
)

_NUM_CARS = NUM_PIECES - 6


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
    role = dice.integers(*roles).expand(dice.num_images, -1)
    return loose_boxes(rows[..., :3], rows[..., 3:], role)


def _roadside(dice: Dice, half_road_B: Tensor, walk_B2: Tensor) -> Pieces:
    """A low wall or hedge along each pavement, two signs on posts, two cabinets."""
    shape = (dice.num_images, NUM_BOXES)
    side = dice.constant((-1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0)).expand(shape)
    wall = dice.constant((1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)).expand(shape) > 0
    post = dice.constant((0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0)).expand(shape) > 0
    plate = dice.constant((0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0)).expand(shape) > 0
    walk = torch.where(side < 0, walk_B2[:, :1], walk_B2[:, 1:])
    # A plate shares the place of the post before it.
    along = dice.between(4.0, 30.0, NUM_BOXES)
    along = torch.where(plate, along.roll(1, 1), along)
    x = side * (half_road_B[:, None] + torch.where(wall, walk + 0.2, torch.where(post | plate, 0.4, walk - 0.4)))
    half_x = torch.where(
        wall, 0.15, torch.where(post, 0.03, torch.where(plate, dice.between(0.25, 0.5, NUM_BOXES), 0.3))
    )
    half_z = torch.where(
        wall, dice.between(5.0, 25.0, NUM_BOXES), torch.where(post, 0.03, torch.where(plate, 0.015, 0.25))
    )
    high = torch.where(wall, dice.between(0.5, 1.8, NUM_BOXES), dice.between(0.7, 1.5, NUM_BOXES))
    bottom = torch.where(plate, 2.0, 0.0)
    top = torch.where(post | plate, 2.7, high)
    # The plate hangs on the near side of its post.
    z = along - torch.where(plate, 0.045, 0.0)
    role = torch.where(wall, dice.one_of((Role.LEAF, Role.LEAF, Role.PAVEMENT, Role.DOOR), NUM_BOXES), int(Role.ITEM))
    role = torch.where(post, int(Role.METAL), torch.where(plate, int(Role.PICTURE), role))
    role = torch.where(dice.chance(0.35, NUM_BOXES) & ~post & ~plate, int(Role.ABSENT), role)
    low = torch.stack((x - half_x, bottom, z - half_z), -1)
    return loose_boxes(low, torch.stack((x + half_x, top, z + half_z), -1), role)


def _round_parts(which_BK: Tensor, size_BK3: Tensor, pieces: Pieces) -> Pieces:
    """Wheels and cabin of each car, as cylinders across it.

    The wheels are two axles as wide as the car, of which only the ends show. The cabin is a hump of glass with a
    narrower, taller one in the car's paint as its roof: slanted windows without slanted boxes.
    """
    width, height, length = size_BK3.unbind(-1)
    cabin = (which_BK == int(Piece.CAR)).float()
    there = (which_BK != int(Piece.NOTHING)).float()
    radius, zero = 0.19 * height.clamp_max(1.8) * there, torch.zeros_like(width)
    # Frame x is up, y the car's x (the cylinder's axis), z the car's z.
    columns = pieces.rotation[..., 1], pieces.rotation[..., 0], pieces.rotation[..., 2]
    parts = (
        ((radius, zero, -0.31 * length), (radius, width * 0.505 * there, radius)),
        ((radius, zero, 0.31 * length), (radius, width * 0.505 * there, radius)),
        ((0.55 * height, zero, -0.08 * length), (0.42 * height * cabin, 0.43 * width * cabin, 0.3 * length * cabin)),
        ((0.55 * height, zero, -0.08 * length), (0.45 * height * cabin, 0.41 * width * cabin, 0.25 * length * cabin)),
    )
    half = torch.stack([torch.stack(part[1], -1) for part in parts], 2)
    role = constant((Role.RUBBER, Role.RUBBER, Role.GLASS, Role.PAINT), width.device, torch.int64)
    return Pieces(
        rotation=torch.stack(columns, -1),
        origin=pieces.origin,
        centre=torch.stack([torch.stack(part[0], -1) for part in parts], 2),
        half=half,
        bulge=torch.zeros_like(half[..., 0]),
        role=role.expand(half.shape[:3]),
    )


def _traffic(dice: Dice, half_road_B: Tensor) -> tuple[Pieces, Pieces]:
    """Cars parked at the kerbs and driving in the lanes: boxes and round parts."""
    which = dice.one_of((*[Piece.CAR] * 6, Piece.VAN, Piece.NOTHING), _NUM_CARS)
    size = sizes(dice, which)
    side, parked = dice.sign(_NUM_CARS), dice.chance(0.7, _NUM_CARS)
    lane = torch.where(parked, half_road_B[:, None] - 0.2 - size[..., 0] / 2, half_road_B[:, None] * 0.4)
    ahead = 3.5 + 7.5 * (torch.arange(_NUM_CARS, device=dice.device) + dice.rand(_NUM_CARS) ** 1.5)
    origin = torch.stack((side * lane, torch.zeros_like(lane), ahead), -1)
    yaw = torch.where((side > 0) ^ (parked & dice.chance(0.3, _NUM_CARS)), 0.0, math.pi)
    cars = stand(dice, which, size, origin, yaw + 0.04 * dice.normal(_NUM_CARS))
    return cars, _round_parts(which, size, cars)


def _greenery(dice: Dice, half_road_B: Tensor, walk_B2: Tensor) -> Pieces:
    """Trees, bushes, poles and people along the pavements."""
    count = NUM_ROUND_PIECES - _NUM_CARS
    body = dice.one_of((Body.TREE, Body.TREE, Body.POLES, Body.PERSON, Body.BUSHES, Body.POLES), count)
    walk = walk_B2.amin(1, keepdim=True)
    beyond = torch.where(
        body == int(Body.BUSHES), walk_B2.amax(1, keepdim=True) + 1.5, walk * dice.between(0.2, 0.9, count)
    )
    across = dice.sign(count) * (half_road_B[:, None] + beyond)
    place = torch.stack((across, torch.zeros_like(across), dice.between(6.0, 40.0, count)), -1)
    return stand(dice, body, sizes(dice, body, rounds=True), place, torch.zeros_like(across), rounds=True)


def sunlight(dice: Dice) -> dict[str, Tensor]:
    """A sun, brighter or weaker, a faint light from the other side, and the sky."""
    sun = torch.stack((dice.between(-80.0, 80.0), dice.between(30.0, 90.0), dice.between(-80.0, 80.0)), -1)
    both = torch.stack((sun, sun * dice.constant((-1.0, 1.0, -1.0))), 1)
    clear = dice.rand()
    return {
        "light": both,
        "power": torch.stack((3.5 * clear, 0.2 + 0 * clear), -1),
        "reach": torch.full_like(both[..., 0], 300.0),
        "ambient": dice.between(0.4, 0.9),
    }


def sample_streets(dice: Dice) -> SceneBatch:
    """Makes up streets seen from a car or by a pedestrian."""
    half_road, walk = dice.between(3.0, 6.5), dice.between(1.2, 4.0, 2)
    kerb = half_road + walk.amax(1)
    on_road = dice.chance(0.75)
    x = torch.where(on_road, (dice.rand() - 0.3) * half_road * 0.8, dice.sign() * (half_road + 0.5 * walk.amin(1)))
    eye = torch.stack((x, dice.between(1.4, 2.0), torch.zeros_like(x)), -1)
    cars, wheels = _traffic(dice, half_road)
    green = _greenery(dice, half_road, walk)
    green = without(green, too_close(green, eye, 1.0))
    aside = torch.where(dice.chance(0.15), dice.between(-0.8, 0.8), torch.zeros_like(x))
    shell = dice.constant((300.0, 300.0, 400.0)).expand(dice.num_images, 3)
    pitch, roll = math.radians(2.5) * dice.normal(), math.radians(1.2) * dice.normal()
    return SceneBatch(
        eye=eye,
        rotation=camera_rotation(0.1 * dice.normal() + aside, pitch, roll),
        tan_half_fov=torch.tan(dice.between(math.radians(22), math.radians(40))),
        shell_low=shell * dice.constant((-1.0, 0.0, -1.0)),
        shell_high=shell,
        shell_role=torch.full((dice.num_images, 6), int(Role.ROAD), device=dice.device),
        outdoors=torch.ones(dice.num_images, dtype=torch.bool, device=dice.device),
        boxes=join(
            cars,
            _buildings(dice, -1.0, kerb),
            _buildings(dice, 1.0, kerb),
            _ground(dice, half_road, walk),
            _roadside(dice, half_road, walk),
            *[_buildings(dice, side, kerb + 18.0) for side in (-1.0, 1.0)],
        ),
        rounds=join(wheels, green),
        **sunlight(dice),
    )

"""Gardens and greenhouses: rows of plants close to the camera, leaves, stems, wires, under a sky or a bright roof."""

import math

import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.pieces import Body
from mrac.lab.train.synthetic.scenes.place import join, loose_boxes, random_rotation, sizes, stand, too_close, without
from mrac.lab.train.synthetic.scenes.roles import Role
from mrac.lab.train.synthetic.scenes.scene import (
    NUM_BOXES,
    NUM_PIECES,
    NUM_ROUND_PIECES,
    NUM_ROUNDS,
    Pieces,
    SceneBatch,
    camera_rotation,
)
from mrac.lab.train.synthetic.scenes.streets import sunlight

_NUM_SHOOTS = NUM_PIECES - 1
_NUM_STEMS = 3


def _in_rows(dice: Dice, count: int, aisle_B: Tensor) -> Tensor:
    """Places (B, count, 3) in the two rows beside an aisle and beyond them, as often in each octave of distance."""
    row = dice.one_of((0, 0, 0, 1, 2), count).float()
    across = dice.sign(count) * (aisle_B[:, None] / 2 + 0.2 + row * aisle_B[:, None] + dice.between(-0.15, 0.15, count))
    ahead = torch.exp(dice.between(math.log(0.35), math.log(9.0), count))
    return torch.stack((across, torch.zeros_like(across), ahead), -1)


def _shoots(dice: Dice, aisle_B: Tensor, height_B: Tensor) -> Pieces:
    """Sprays of eight thin leaves each, turned any way."""
    origin = _in_rows(dice, _NUM_SHOOTS, aisle_B)
    origin = origin + dice.constant((0.0, 1.0, 0.0)) * (dice.rand(_NUM_SHOOTS, 1) * height_B[:, None, None])
    leaf = dice.between(dice.constant((0.02, 0.001, 0.05)), dice.constant((0.11, 0.004, 0.26)), _NUM_SHOOTS, 1, 3)
    half = leaf * dice.between(0.6, 1.4, _NUM_SHOOTS, NUM_BOXES, 1)
    centre = (dice.rand(_NUM_SHOOTS, NUM_BOXES, 3) - 0.5) * dice.constant((0.7, 0.6, 0.9))
    return Pieces(
        rotation=random_rotation(dice, _NUM_SHOOTS),
        origin=origin,
        centre=centre,
        half=half,
        bulge=torch.zeros_like(half[..., 0]),
        role=torch.full_like(half[..., 0], int(Role.LEAF), dtype=torch.int64),
    )


def _beds(dice: Dice, aisle_B: Tensor) -> Pieces:
    """A bed or gutter under each row, two posts and four wires or pipes along the rows."""
    zero, aisle = torch.zeros_like(aisle_B)[:, None], aisle_B[:, None]
    low, high = [], []
    top = 0.04 + 0.8 * dice.rand(1) ** 3
    for side in (-1.0, 1.0):
        x = torch.sort(torch.cat((side * aisle / 2, side * (aisle / 2 + 0.45)), 1), 1).values
        low.append(torch.stack((x[:, :1], zero, zero), -1))
        high.append(torch.stack((x[:, 1:], top, zero + 40.0), -1))
        post, ahead = side * (aisle / 2 + dice.between(0.0, 0.5, 1)), dice.between(1.0, 6.0, 1)
        low.append(torch.stack((post - 0.03, zero, ahead - 0.03), -1))
        high.append(torch.stack((post + 0.03, zero + 4.0, ahead + 0.03), -1))
        for _ in range(2):
            x0, y0, thick = post + dice.between(-0.3, 0.3, 1), dice.between(0.5, 2.5, 1), dice.between(0.002, 0.02, 1)
            low.append(torch.stack((x0 - thick, y0 - thick, zero), -1))
            high.append(torch.stack((x0 + thick, y0 + thick, zero + 40.0), -1))
    roles = (Role.PAVEMENT, *[Role.METAL] * 3) * 2
    role = torch.where(dice.chance(0.3, NUM_BOXES), int(Role.ABSENT), dice.integers(*roles).expand(dice.num_images, -1))
    return loose_boxes(torch.cat(low, 1), torch.cat(high, 1), role)


def _stems(dice: Dice, aisle_B: Tensor, height_B: Tensor) -> Pieces:
    """Upright stems, four to a piece, with fruit on some."""
    shape = (_NUM_STEMS, NUM_ROUNDS)
    place = _in_rows(dice, _NUM_STEMS * NUM_ROUNDS, aisle_B).view(-1, *shape, 3)
    fruit = dice.chance(0.35, *shape)
    radius = torch.where(fruit, dice.between(0.02, 0.06, *shape), dice.between(0.004, 0.02, *shape))
    half_y = torch.where(fruit, radius, height_B[:, None, None] * dice.between(0.3, 0.5, *shape))
    y = torch.where(fruit, height_B[:, None, None] * dice.rand(*shape), half_y)
    role = torch.where(fruit, int(Role.COVER), int(Role.BARK))
    return Pieces(
        rotation=torch.eye(3, device=dice.device).expand(dice.num_images, _NUM_STEMS, 3, 3),
        origin=torch.zeros(dice.num_images, _NUM_STEMS, 3, device=dice.device),
        centre=torch.stack((place[..., 0], y, place[..., 2]), -1),
        half=torch.stack((radius, half_y, radius), -1),
        bulge=fruit.float(),
        role=role,
    )


def _foliage(dice: Dice, aisle_B: Tensor, height_B: Tensor) -> Pieces:
    """Hedges, bushes and potted plants that fill the rows, and a tree now and then."""
    count = NUM_ROUND_PIECES - _NUM_STEMS
    body = dice.one_of((Body.BUSHES, Body.BUSHES, Body.PLANT, Body.PLANT, Body.TREE), count)
    size = sizes(dice, body, rounds=True)
    bush = (body == int(Body.BUSHES))[..., None]
    low = torch.stack((0.5 * aisle_B, 0.8 * height_B, 4.0 + 0 * aisle_B), -1)[:, None]
    size = torch.where(bush, low * dice.between(0.6, 1.2, count, 3), size)
    place = _in_rows(dice, count, aisle_B) * dice.constant((1.0, 1.0, 1.6))
    tree = (body == int(Body.TREE))[..., None]
    place = torch.where(tree, place * dice.constant((3.0, 1.0, 3.0)), place)
    return stand(dice, body, size, place, dice.between(-0.2, 0.2, count), rounds=True)


def sample_gardens(dice: Dice) -> SceneBatch:
    """Makes up gardens, fields of crops and greenhouses seen from between the rows."""
    aisle, height = dice.between(0.6, 2.0), dice.between(0.4, 2.4)
    eye = torch.stack(((dice.rand() - 0.5) * aisle, dice.between(0.4, 1.7), torch.zeros_like(aisle)), -1)
    foliage = join(_stems(dice, aisle, height), _foliage(dice, aisle, height))
    shoots = _shoots(dice, aisle, height)
    shell = torch.stack((dice.between(2.0, 12.0), dice.between(2.5, 6.0), dice.between(8.0, 60.0)), -1)
    roof, wall = dice.one_of((Role.WINDOW, Role.CEILING)), dice.one_of((Role.WINDOW, Role.WALL))
    floor = dice.one_of((Role.GRASS, Role.GRASS, Role.ROAD, Role.PAVEMENT))
    outdoors = dice.chance(0.5)
    far = torch.where(outdoors[:, None], dice.constant((300.0, 300.0, 400.0)), shell)
    turned = torch.where(dice.chance(0.3), dice.between(-1.2, 1.2), 0.15 * dice.normal())
    return SceneBatch(
        eye=eye,
        rotation=camera_rotation(turned, dice.between(-0.4, 0.15), math.radians(3) * dice.normal()),
        tan_half_fov=torch.tan(dice.between(math.radians(22), math.radians(40))),
        shell_low=far * dice.constant((-1.0, 0.0, -1.0)),
        shell_high=far,
        shell_role=torch.stack((wall, wall, floor, roof, wall, wall), 1),
        outdoors=outdoors,
        boxes=join(without(shoots, too_close(shoots, eye, 0.25)), _beds(dice, aisle)),
        rounds=without(foliage, too_close(foliage, eye, 0.3)),
        **sunlight(dice),
    )

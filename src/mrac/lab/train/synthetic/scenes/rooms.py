"""Rooms: a floor, four walls, a ceiling, furniture along the walls and in the middle, doors, windows and pictures."""

import math

import torch
from torch import Tensor

from mrac.lab.train.synthetic.scenes.dice import Dice
from mrac.lab.train.synthetic.scenes.pieces import Body, Piece
from mrac.lab.train.synthetic.scenes.place import (
    join,
    keep_within,
    loose_boxes,
    sizes,
    stand,
    too_close,
    top_height,
    without,
)
from mrac.lab.train.synthetic.scenes.roles import Role
from mrac.lab.train.synthetic.scenes.scene import (
    NUM_BOXES,
    NUM_PIECES,
    NUM_ROUND_PIECES,
    Pieces,
    SceneBatch,
    camera_rotation,
)

_FURNITURE = (
    Piece.TABLE,
    Piece.TABLE,
    Piece.CHAIR,
    Piece.CHAIR,
    Piece.SHELF,
    Piece.SHELF,
    Piece.SOFA,
    Piece.BED,
    Piece.CUPBOARD,
    Piece.CUPBOARD,
    Piece.DESK,
    Piece.COUNTER,
    Piece.CARTONS,
    Piece.ARMCHAIR,
)
_FREE = (Piece.TABLE, Piece.TABLE, Piece.SOFA, Piece.ARMCHAIR, Piece.CHAIR, Piece.CARTONS, Piece.OPEN_DESK)
_LOW = (Piece.CHAIR, Piece.TABLE, Piece.CARTONS, Piece.ARMCHAIR)
_ON_FLOOR = (Body.FLOOR_LAMP, Body.PLANT, Body.BIN, Body.BIN, Body.PERSON, Body.BALL, Body.NOTHING)
_ON_TOP = (Body.BOTTLES, Body.MUGS, Body.DESK_LAMP, Body.FRUIT, Body.PLANT, Body.NOTHING)
_SMALL = (Piece.STACK, Piece.ROW, Piece.GADGETS, Piece.GADGETS, Piece.PAPERS, Piece.MONITOR)
NUM_FURNITURE = NUM_PIECES - 3


def sample_shell(dice: Dice) -> Tensor:
    """Width, height and depth of rooms in metres, (B, 3); one in six is a hall or a shop."""
    small = dice.between(dice.constant((2.6, 2.3, 3.0)), dice.constant((6.0, 3.0, 7.0)), 3)
    large = small * dice.between(1.3, 2.5)[:, None] * dice.constant((1.0, 0.7, 1.0))
    return torch.where(dice.chance(1 / 6)[:, None], torch.maximum(large, small), small)


def cells(dice: Dice, shell_B3: Tensor, taken_BT2: Tensor, count: int) -> Tensor:
    """Distinct cells of a 3 × 3 floor plan, away from T points; (B, count, 2) integers 0 to 2 along x and z."""
    own = ((taken_BT2 / shell_B3[:, None, ::2] + 0.5) * 3).floor().clamp(0, 2).long()
    index = own[..., 0] * 3 + own[..., 1]
    order = dice.rand(9).scatter(1, index, 2.0).argsort(1)[:, :count]
    return torch.stack((order // 3, order % 3), -1)


def along_walls(dice: Dice, shell_B3: Tensor, cell_BK2: Tensor, size_BK3: Tensor) -> tuple[Tensor, Tensor]:
    """Where pieces stand: with their back to the wall of their cell, or anyhow in the middle one.

    Returns:
        Origins (B, K, 3) in metres and yaws (B, K) in radians.
    """
    num = cell_BK2.shape[1]
    floor_B12 = shell_B3[:, None, ::2]
    side = cell_BK2.float() - 1
    spot = floor_B12 * side / 3 + (dice.rand(num, 2) - 0.5) * floor_B12 / 6
    on_x, on_z = side[..., 0] != 0, side[..., 1] != 0
    use_x = on_x & (~on_z | dice.chance(0.5, num))
    use_z = on_z & ~use_x
    gap = dice.rand(num) ** 3 * 0.3 + 0.01
    wall = floor_B12 / 2 - (size_BK3[..., 2] / 2 + gap)[..., None]
    # A piece must not stick through the wall beside it either.
    inner = (floor_B12 / 2 - (size_BK3[..., 0] / 2 + 0.02)[..., None]).clamp_min(0)
    spot = torch.minimum(torch.maximum(spot, -inner), inner)
    x = torch.where(use_x, side[..., 0] * wall[..., 0], spot[..., 0])
    z = torch.where(use_z, side[..., 1] * wall[..., 1], spot[..., 1])
    yaw = torch.where(use_x, -side[..., 0] * math.pi / 2, torch.where(side[..., 1] > 0, math.pi, 0.0))
    free = ~use_x & ~use_z
    yaw = torch.where(free, dice.between(-math.pi, math.pi, num), yaw + 0.03 * dice.normal(num))
    return torch.stack((x, torch.zeros_like(x), z), -1), yaw


def wall_things(dice: Dice, shell_B3: Tensor) -> Pieces:
    """A door, two windows, four pictures and a rug, as thin boxes in one piece."""
    roles = (Role.DOOR, Role.WINDOW, Role.WINDOW, Role.PICTURE, Role.PICTURE, Role.PICTURE, Role.PICTURE, Role.CLOTH)
    low = dice.constant(((0.8, 2.0), (0.7, 0.8), (0.7, 0.8), *[(0.25, 0.2)] * 4, (1.0, 0.01)))
    high = dice.constant(((1.0, 2.1), (2.2, 1.5), (2.2, 1.5), *[(1.1, 0.9)] * 4, (2.5, 0.02)))
    size = dice.between(low, high, NUM_BOXES, 2)
    room = shell_B3[:, None]
    number = torch.arange(NUM_BOXES, device=dice.device)
    base = torch.where(number == 0, 0.0, 0.9) + (number > 2) * dice.between(0.1, 0.7, NUM_BOXES)
    size[..., 1] = torch.minimum(size[..., 1], room[..., 1] - base - 0.1)
    on_x = dice.chance(0.5, NUM_BOXES)
    sign = dice.sign(NUM_BOXES)
    run = torch.where(on_x, room[..., 2], room[..., 0])
    middle = (dice.rand(NUM_BOXES) - 0.5) * (run - size[..., 0]).clamp_min(0)
    thick = dice.between(0.01, 0.05, NUM_BOXES)
    depth = sign * (torch.where(on_x, room[..., 0], room[..., 2]) / 2 - thick / 2)
    flat, half = size[..., 0] / 2, thick / 2
    x, z = torch.where(on_x, depth, middle), torch.where(on_x, middle, depth)
    hx, hz = torch.where(on_x, half, flat), torch.where(on_x, flat, half)
    rug = number == 7
    spot = (dice.rand(NUM_BOXES, 2) - 0.5) * 0.4
    x, z = torch.where(rug, spot[..., 0] * room[..., 0], x), torch.where(rug, spot[..., 1] * room[..., 2], z)
    hx, hz = torch.where(rug, flat, hx), torch.where(rug, flat * 0.7, hz)
    bottom = torch.where(rug, 0.0, base)
    return loose_boxes(
        torch.stack((x - hx, bottom, z - hz), -1),
        torch.stack((x + hx, bottom + size[..., 1], z + hz), -1),
        dice.integers(*roles).expand(dice.num_images, -1),
    )


def structure(dice: Dice, shell_B3: Tensor) -> Pieces:
    """What makes a room more than a box: skirting boards, a chimney breast, a beam, a boxed-in corner."""
    half = shell_B3[:, None, :] * 0.5
    x, y, z = half[..., 0], shell_B3[:, None, 1], half[..., 2]
    board, thick = dice.between(0.05, 0.14, 1), 0.015
    zero, hidden = torch.zeros_like(x), torch.where(dice.chance(0.4, 1), 0.0, -1.0)
    jut, wide = dice.between(0.2, 0.8, 1), dice.between(0.5, 1.6, 1)
    place = (dice.rand(1) - 0.5) * x
    sign = dice.sign(1)
    corner = (
        torch.stack((sign * x - jut, zero, sign * z - wide), -1),
        torch.stack((sign * x + jut, y, sign * z + wide), -1),
    )
    breast = torch.stack((place - wide, zero, z - jut), -1), torch.stack((place + wide, y + hidden * 9, z), -1)
    beam = torch.stack((-x, y - jut / 2, place - 0.1), -1), torch.stack((x, y + hidden, place + 0.1), -1)
    skirting = [
        (torch.stack((-x, zero, -z), -1), torch.stack((x, board, -z + thick), -1)),
        (torch.stack((-x, zero, z - thick), -1), torch.stack((x, board, z), -1)),
        (torch.stack((-x, zero, -z), -1), torch.stack((-x + thick, board, z), -1)),
        (torch.stack((x - thick, zero, -z), -1), torch.stack((x, board, z), -1)),
    ]
    nothing = (torch.stack((zero, zero, zero), -1), torch.stack((zero, zero - 1, zero), -1))
    low, high = zip(*skirting, breast, beam, corner, nothing, strict=True)
    roles = [Role.DOOR] * 4 + [Role.WALL] * 3 + [Role.ABSENT]
    role = dice.integers(*roles).expand(dice.num_images, -1)
    present = dice.rand(NUM_BOXES) < dice.constant((0.8, 0.8, 0.8, 0.8, 0.3, 0.3, 0.3, 0.0))
    return loose_boxes(torch.cat(low, 1), torch.cat(high, 1), torch.where(present, role, int(Role.ABSENT)))


def indoor_lights(dice: Dice, shell_B3: Tensor) -> dict[str, Tensor]:
    """Two lights below the ceiling, and ambient light."""
    spread = dice.constant((0.7, 0.0, 0.7))
    light = (dice.rand(2, 3) - 0.5) * spread * shell_B3[:, None]
    light = light + dice.constant((0.0, 1.0, 0.0)) * (shell_B3[:, None] - dice.between(0.05, 0.6, 2)[..., None])
    return {
        "light": light,
        "power": dice.between(0.3, 2.0, 2),
        "reach": dice.between(1.0, 4.0, 2),
        "ambient": dice.between(0.15, 0.6),
    }


def shell_of(dice: Dice, shell_B3: Tensor) -> dict[str, Tensor]:
    """The shell's fields of `SceneBatch` for rooms of this size about the world's y axis."""
    half = shell_B3 * dice.constant((0.5, 0.0, 0.5))
    roles = (Role.WALL, Role.WALL, Role.FLOOR, Role.CEILING, Role.WALL, Role.WALL)
    return {
        "shell_low": -half,
        "shell_high": half + shell_B3 * dice.constant((0.0, 1.0, 0.0)),
        "shell_role": dice.integers(*roles).expand(dice.num_images, -1),
        "outdoors": torch.zeros(dice.num_images, dtype=torch.bool, device=dice.device),
    }


def furnish(dice: Dice, shell_B3: Tensor, eye_B3: Tensor) -> tuple[Tensor, Tensor, Pieces]:
    """Furniture in distinct cells of the floor plan: what it is (B, K), its size (B, K, 3) and the pieces."""
    eye_B12 = eye_B3[:, None, ::2]
    cell = cells(dice, shell_B3, eye_B12, NUM_FURNITURE)
    which = dice.one_of(_FURNITURE, NUM_FURNITURE)
    # Only what stands by itself goes to the middle, and only low things right before the camera.
    middle = (cell == 1).all(-1)
    which = torch.where(middle, dice.one_of(_FREE, NUM_FURNITURE), which)
    away = (cell - 1) * shell_B3[:, None, ::2] / 3 - eye_B12
    near = away.square().sum(-1) < 1.4**2
    which = torch.where(near, dice.one_of(_LOW, NUM_FURNITURE), which)
    size = sizes(dice, which)
    origin, yaw = along_walls(dice, shell_B3, cell, size)
    half = shell_B3[:, None] / 2
    pieces = keep_within(stand(dice, which, size, origin, yaw), -half, half)
    gone = too_close(pieces, eye_B3, 0.4)
    return torch.where(gone, int(Piece.NOTHING), which), size, without(pieces, gone)


def _clutter(dice: Dice, carriers: tuple[Tensor, Tensor, Pieces]) -> Pieces:
    """One group of small things on the last piece of furniture, where that has a free top."""
    which, size, pieces = carriers
    top = top_height(which, size)[:, -1:]
    small = torch.where(top > 0.3, dice.one_of(_SMALL, 1), int(Piece.NOTHING))
    small_size = torch.minimum(sizes(dice, small), size[:, -1:] * dice.constant((0.8, 9.0, 0.8)))
    place = pieces.origin[:, -1:] + top[..., None] * dice.constant((0.0, 1.0, 0.0))
    ahead = torch.atan2(pieces.rotation[:, -1:, 0, 2], pieces.rotation[:, -1:, 2, 2])
    return stand(dice, small, small_size, place, ahead + 0.1 * dice.normal(1))


def _bodies(dice: Dice, shell_B3: Tensor, carriers: tuple[Tensor, Tensor, Pieces], eye_B3: Tensor) -> Pieces:
    """Round bodies: half of them on furniture, where it has a free top, half on the floor."""
    count = NUM_ROUND_PIECES // 2
    which, size, pieces = carriers
    tops = top_height(which, size)[:, :count]
    rest = NUM_ROUND_PIECES - count
    floor = (dice.rand(rest, 2) - 0.5) * 0.85 * shell_B3[:, None, ::2]
    close = (floor - eye_B3[:, None, ::2]).square().sum(-1) < 1.2**2
    on_top = torch.where(tops > 0, dice.one_of(_ON_TOP, count), int(Body.NOTHING))
    on_floor = torch.where(close, int(Body.NOTHING), dice.one_of(_ON_FLOOR, rest))
    body = torch.cat((on_top, on_floor), 1)
    body_size = sizes(dice, body, rounds=True)
    # Nothing is wider than what it stands on.
    widest = size[:, :count, ::2].amin(-1, keepdim=True)
    slim = torch.minimum(body_size[:, :count] * 0.7, widest * dice.constant((0.9, 99.0, 0.9)))
    body_size = torch.cat((slim, body_size[:, count:]), 1)
    zero = torch.zeros_like(floor[..., :1])
    low = torch.cat((floor[..., :1], zero, floor[..., 1:]), -1)
    high = pieces.origin[:, :count] + tops[..., None] * dice.constant((0.0, 1.0, 0.0))
    yaw = dice.between(-math.pi, math.pi, NUM_ROUND_PIECES)
    bodies = stand(dice, body, body_size, torch.cat((high, low), 1), yaw, rounds=True)
    half = shell_B3[:, None] / 2
    bodies = keep_within(bodies, -half, half)
    return without(bodies, too_close(bodies, eye_B3, 0.4))


def sample_rooms(dice: Dice) -> SceneBatch:
    """Makes up rooms seen at eye height."""
    shell = sample_shell(dice)
    yaw = dice.between(-math.pi, math.pi)
    ahead = torch.stack((yaw.sin(), yaw.cos()), -1)
    floor = shell[:, ::2]
    # The camera backs away from what it looks at, as people do to get a room into the picture.
    spot = -ahead * floor * dice.between(0.2, 0.5)[:, None] + (dice.rand(2) - 0.5) * floor * 0.25
    limit = floor / 2 - 0.25
    spot = torch.minimum(torch.maximum(spot, -limit), limit)
    height = torch.minimum(dice.between(1.0, 1.8), shell[:, 1] - 0.3)
    eye = torch.stack((spot[:, 0], height, spot[:, 1]), -1)
    furniture = furnish(dice, shell, eye)
    pitch = (math.radians(-10) + math.radians(10) * dice.normal()).clamp(math.radians(-35), math.radians(15))
    return SceneBatch(
        eye=eye,
        rotation=camera_rotation(yaw + 0.3 * dice.normal(), pitch, math.radians(3.5) * dice.normal().clamp(-2.3, 2.3)),
        tan_half_fov=torch.tan(dice.between(math.radians(20), math.radians(38))),
        boxes=join(furniture[2], _clutter(dice, furniture), wall_things(dice, shell), structure(dice, shell)),
        rounds=_bodies(dice, shell, furniture, eye),
        **shell_of(dice, shell),
        **indoor_lights(dice, shell),
    )

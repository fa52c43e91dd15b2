"""Furniture, desk clutter, cars and trees as templates: primitives in a unit frame, scaled when placed.

A template's x runs −0.5 to 0.5 across, y from 0 where it rests to 1, z from −0.5 at the back to 0.5 at the front.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from mrac.lab.train.synthetic.scenes.roles import Role

Box = tuple[float, float, float, float, float, float, Role]
Round = tuple[float, float, float, float, float, float, float, Role]


@dataclass(frozen=True)
class Template:
    """A piece: the range of its width, height and depth in metres, where things can stand on it, and its parts.

    Attributes:
        low: Smallest (width, height, depth).
        high: Largest (width, height, depth).
        top: Height of its free upper surface as a share of the height; 0 where nothing can stand.
        parts: Boxes (x0, x1, y0, y1, z0, z1, role), or round bodies (x, y, z, and half extents, bulge, role).
    """

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    top: float
    parts: tuple[Box, ...] | tuple[Round, ...]


EMPTY: Final = Template((0.1, 0.1, 0.1), (0.1, 0.1, 0.1), 0, ())


def both_sides(x0: float, x1: float, *rest: float, role: Role) -> tuple[Box, Box]:
    """A box of the right half, x from `x0` to `x1`, and its mirror image, which comes first: arms, doors, lamps."""
    y0, y1, z0, z1 = rest
    return (-x1, -x0, y0, y1, z0, z1, role), (x0, x1, y0, y1, z0, z1, role)


class Piece(IntEnum):
    """Names of the templates of boxes."""

    NOTHING = 0
    TABLE = 1
    CHAIR = 2
    SHELF = 3
    SOFA = 4
    BED = 5
    CUPBOARD = 6
    DESK = 7
    COUNTER = 8
    CARTONS = 9
    OPEN_DESK = 10
    MONITOR = 11
    STACK = 12
    ROW = 13
    PAPERS = 14
    GADGETS = 15
    LAPTOP = 16
    CAR = 17
    VAN = 18
    ARMCHAIR = 19
    BARE_TABLE = 20


class Body(IntEnum):
    """Names of the templates of round bodies."""

    NOTHING = 0
    FLOOR_LAMP = 1
    PLANT = 2
    BIN = 3
    BOTTLES = 4
    MUGS = 5
    DESK_LAMP = 6
    TREE = 7
    POLES = 8
    PERSON = 9
    BALL = 10
    FRUIT = 11
    BUSHES = 12

"""What surfaces are made of: for each role, the range of colours, textures and gloss that it is drawn from."""

from dataclasses import dataclass, replace
from enum import IntEnum


class Texture(IntEnum):
    """A pattern of the atlas. The last three bring their own colours, the others blend between two."""

    PLAIN = 0
    CLOUD = 1
    CARPET = 2
    WOOD = 3
    BRICK = 4
    TILE = 5
    STRIPE = 6
    CHECK = 7
    KEYS = 8
    FACADE = 9
    LEAVES = 10
    NATURAL = 11
    SPINES = 12
    POSTER = 13
    PHOTO = 14


FIRST_COLOURED = Texture.SPINES


class Role(IntEnum):
    """What a primitive is; `ABSENT` has no surface."""

    ABSENT = 0
    MAIN = 1
    SECOND = 2
    CLOTH = 3
    DARK = 4
    METAL = 5
    BOOKS = 6
    ITEM = 7
    PAPER = 8
    SCREEN = 9
    KEYS = 10
    GLASS = 11
    RUBBER = 12
    LEAF = 13
    BARK = 14
    WALL = 15
    FLOOR = 16
    CEILING = 17
    ROAD = 18
    PAVEMENT = 19
    FACADE = 20
    PAINT = 21
    MARKING = 22
    SHADE = 23
    PICTURE = 24
    WINDOW = 25
    DOOR = 26
    GRASS = 27
    COVER = 28


@dataclass(frozen=True, kw_only=True)
class Look:
    """Ranges of a role's appearance.

    Attributes:
        textures: Patterns to draw from, evenly.
        hue: Range on the colour wheel, 0 to 1.
        saturation: Range; draws are squared towards the low end, as most of the world is grey.
        value: Range of the brightest channel, linear light.
        contrast: How far the second colour departs from the first, 0 to 1.
        metres: Range of the length that one texture tile covers.
        gloss: Strength of the highlight.
        glow: Light given off, in units of a lit white surface.
        photo: Probability of a photograph's patch as texture, where photographs are given.
        own: Whether each box of a piece draws its own look; else the piece shares one per role.
        present: Probability that the primitive is there at all.
    """

    textures: tuple[Texture, ...] = (Texture.PLAIN, Texture.CLOUD)
    hue: tuple[float, float] = (0.0, 1.0)
    saturation: tuple[float, float] = (0.0, 0.5)
    value: tuple[float, float] = (0.1, 0.9)
    contrast: float = 0.3
    metres: tuple[float, float] = (0.5, 2.0)
    gloss: float = 0.1
    glow: float = 0.0
    photo: float = 0.3
    own: bool = False
    present: float = 1.0


_T = Texture
_WOODEN = (_T.WOOD, _T.WOOD, _T.NATURAL, _T.PLAIN)
_THING = Look(
    textures=(_T.PLAIN, _T.POSTER, _T.NATURAL, _T.STRIPE, _T.POSTER, _T.CLOUD),
    saturation=(0.0, 1.0),
    value=(0.02, 0.95),
    contrast=0.8,
    metres=(0.1, 0.5),
    photo=0.5,
    own=True,
)
LOOKS: dict[Role, Look] = {
    Role.ABSENT: Look(present=0.0),
    Role.MAIN: Look(
        textures=_WOODEN, hue=(0.03, 0.13), saturation=(0.0, 0.9), value=(0.02, 0.85), contrast=0.5, photo=0.1
    ),
    Role.SECOND: Look(
        textures=_WOODEN, hue=(0.0, 0.2), saturation=(0.0, 0.7), value=(0.02, 0.9), contrast=0.4, photo=0.1
    ),
    Role.CLOTH: Look(
        textures=(_T.CARPET, _T.NATURAL, _T.STRIPE, _T.CHECK, _T.NATURAL, _T.CLOUD),
        value=(0.02, 0.85),
        contrast=0.7,
        metres=(0.3, 1.2),
        saturation=(0.0, 0.9),
        gloss=0.0,
        own=True,
    ),
    Role.DARK: Look(value=(0.005, 0.05), saturation=(0.0, 0.2), gloss=0.3, photo=0.0),
    Role.METAL: Look(value=(0.04, 0.8), saturation=(0.0, 0.15), gloss=0.6, photo=0.0),
    Role.BOOKS: Look(textures=(_T.SPINES,), metres=(0.4, 1.2), photo=0.3, own=True, present=0.9),
    Role.ITEM: replace(_THING, present=0.85),
    Role.COVER: _THING,
    Role.PAPER: Look(
        textures=(_T.KEYS, _T.PLAIN, _T.POSTER),
        saturation=(0.0, 0.15),
        value=(0.5, 0.95),
        metres=(0.2, 0.4),
        photo=0.3,
        own=True,
        present=0.8,
    ),
    Role.SCREEN: Look(
        textures=(_T.POSTER, _T.PLAIN, _T.PLAIN), value=(0.005, 0.2), metres=(0.3, 0.8), gloss=0.4, glow=0.25, photo=0.4
    ),
    Role.KEYS: Look(
        textures=(_T.KEYS,), saturation=(0.0, 0.1), value=(0.01, 0.8), contrast=1.0, metres=(0.2, 0.3), photo=0.0
    ),
    Role.GLASS: Look(value=(0.005, 0.08), saturation=(0.0, 0.3), gloss=1.0, photo=0.0),
    Role.RUBBER: Look(value=(0.006, 0.02), saturation=(0.0, 0.1), gloss=0.05, photo=0.0),
    Role.LEAF: Look(
        textures=(_T.LEAVES, _T.LEAVES, _T.NATURAL),
        hue=(0.17, 0.34),
        saturation=(0.3, 0.9),
        value=(0.08, 0.4),
        contrast=1.0,
        metres=(0.8, 3.0),
        gloss=0.0,
        photo=0.0,
    ),
    Role.BARK: Look(textures=(_T.WOOD,), hue=(0.05, 0.12), saturation=(0.1, 0.5), value=(0.03, 0.25), photo=0.0),
    Role.WALL: Look(
        textures=(_T.PLAIN, _T.PLAIN, _T.CLOUD, _T.STRIPE, _T.BRICK, _T.TILE, _T.PLAIN),
        saturation=(0.0, 0.4),
        value=(0.15, 0.95),
        contrast=0.25,
        metres=(0.8, 2.5),
        gloss=0.0,
        photo=0.03,
    ),
    Role.FLOOR: Look(
        textures=(_T.CARPET, _T.WOOD, _T.WOOD, _T.TILE, _T.NATURAL, _T.CHECK, _T.TILE, _T.PLAIN),
        hue=(0.0, 0.2),
        saturation=(0.0, 0.8),
        value=(0.03, 0.8),
        contrast=0.5,
        metres=(0.6, 2.5),
        gloss=0.25,
        photo=0.03,
    ),
    Role.CEILING: Look(
        textures=(_T.PLAIN, _T.TILE), saturation=(0.0, 0.15), value=(0.5, 0.95), contrast=0.1, photo=0.02
    ),
    Role.ROAD: Look(
        textures=(_T.CARPET, _T.NATURAL, _T.CLOUD),
        saturation=(0.0, 0.15),
        value=(0.06, 0.4),
        metres=(1.0, 5.0),
        photo=0.03,
    ),
    Role.PAVEMENT: Look(
        textures=(_T.TILE, _T.TILE, _T.CARPET, _T.BRICK),
        saturation=(0.0, 0.2),
        value=(0.12, 0.6),
        contrast=0.5,
        metres=(1.0, 3.0),
        photo=0.03,
    ),
    Role.FACADE: Look(
        textures=(_T.FACADE, _T.FACADE, _T.FACADE, _T.BRICK, _T.FACADE, _T.NATURAL),
        hue=(0.0, 0.16),
        saturation=(0.0, 0.8),
        value=(0.12, 0.9),
        contrast=1.0,
        metres=(8.0, 18.0),
        own=True,
        photo=0.1,
    ),
    Role.PAINT: Look(
        textures=(_T.PLAIN,), saturation=(0.0, 1.0), value=(0.03, 0.9), contrast=0.05, gloss=0.8, photo=0.0
    ),
    Role.MARKING: Look(
        textures=(_T.CLOUD,), saturation=(0.0, 0.1), value=(0.6, 0.95), contrast=0.3, photo=0.0, present=0.8
    ),
    Role.SHADE: Look(hue=(0.05, 0.15), saturation=(0.0, 0.5), value=(0.4, 0.95), glow=0.6, photo=0.0),
    Role.PICTURE: Look(textures=(_T.POSTER, _T.CLOUD, _T.POSTER), metres=(0.3, 1.2), photo=0.8, own=True, present=0.75),
    Role.WINDOW: Look(
        textures=(_T.CLOUD, _T.STRIPE, _T.FACADE, _T.PLAIN),
        hue=(0.5, 0.65),
        saturation=(0.0, 0.3),
        value=(0.3, 0.95),
        contrast=0.8,
        glow=1.5,
        metres=(0.5, 2.5),
        photo=0.5,
        present=0.8,
    ),
    Role.DOOR: Look(textures=_WOODEN, hue=(0.04, 0.12), saturation=(0.0, 0.8), value=(0.05, 0.95), photo=0.1),
    Role.GRASS: Look(
        textures=(_T.CARPET, _T.LEAVES, _T.NATURAL),
        hue=(0.13, 0.33),
        saturation=(0.2, 0.8),
        value=(0.06, 0.35),
        contrast=0.6,
        metres=(1.0, 4.0),
        photo=0.03,
    ),
}

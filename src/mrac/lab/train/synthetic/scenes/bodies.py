"""Templates of round bodies: lamps, plants, bottles, trees, people."""

from mrac.lab.train.synthetic.scenes.pieces import EMPTY, Body, Round, Template
from mrac.lab.train.synthetic.scenes.roles import Role

_R = Role


def _lamp(foot: tuple[float, float], pole: float, shade: float) -> tuple[Round, ...]:
    """A foot of this half width and half height, a pole of this half width, a shade of this half height."""
    half_width, half_height = foot
    return (
        (0, half_height, 0, half_width, half_height, half_width, 0, _R.METAL),
        (0, 0.4, 0, pole, 0.4, pole, 0, _R.METAL),
        (0, 1 - shade, 0, 0.5, shade, 0.5, 0, _R.SHADE),
    )


BODIES: dict[Body, Template] = {
    Body.NOTHING: EMPTY,
    Body.FLOOR_LAMP: Template((0.3, 1.3, 0.3), (0.5, 1.8, 0.5), 0, _lamp(foot=(0.4, 0.01), pole=0.03, shade=0.12)),
    Body.PLANT: Template(
        (0.3, 0.5, 0.3),
        (0.8, 1.6, 0.8),
        0,
        (
            (0, 0.15, 0, 0.3, 0.15, 0.3, 0, _R.COVER),
            (0, 0.6, 0, 0.45, 0.3, 0.45, 1, _R.LEAF),
            (0.15, 0.75, 0.1, 0.3, 0.22, 0.3, 1, _R.LEAF),
            (-0.2, 0.55, -0.1, 0.3, 0.2, 0.3, 1, _R.LEAF),
        ),
    ),
    Body.BIN: Template(
        (0.2, 0.25, 0.2),
        (0.4, 0.7, 0.4),
        0,
        ((0, 0.5, 0, 0.5, 0.5, 0.5, 0, _R.SECOND), (0, 1, 0, 0.52, 0.03, 0.52, 0, _R.DARK)),
    ),
    Body.BOTTLES: Template(
        (0.2, 0.2, 0.2),
        (0.5, 0.34, 0.4),
        0,
        (
            (-0.35, 0.35, -0.2, 0.1, 0.35, 0.1, 0, _R.GLASS),
            (-0.35, 0.85, -0.2, 0.04, 0.15, 0.04, 0, _R.DARK),
            (0.1, 0.25, 0.2, 0.11, 0.25, 0.11, 0, _R.ITEM),
            (0.4, 0.2, -0.3, 0.12, 0.2, 0.12, 0, _R.METAL),
        ),
    ),
    Body.MUGS: Template(
        (0.25, 0.08, 0.25),
        (0.6, 0.13, 0.5),
        0,
        (
            (-0.3, 0.5, 0.1, 0.1, 0.5, 0.1, 0, _R.COVER),
            (-0.3, 1, 0.1, 0.085, 0.01, 0.085, 0, _R.DARK),
            (0.35, 0.4, -0.3, 0.09, 0.4, 0.09, 0, _R.COVER),
            (0.2, 0.3, 0.4, 0.08, 0.3, 0.08, 1, _R.COVER),
        ),
    ),
    Body.DESK_LAMP: Template((0.2, 0.35, 0.2), (0.32, 0.55, 0.32), 0, _lamp(foot=(0.35, 0.02), pole=0.05, shade=0.18)),
    Body.TREE: Template(
        (2.5, 4.0, 2.5),
        (6.0, 9.0, 6.0),
        0,
        (
            (0, 0.25, 0, 0.04, 0.25, 0.04, 0, _R.BARK),
            (0, 0.68, 0, 0.42, 0.3, 0.42, 1, _R.LEAF),
            (0.2, 0.55, 0.15, 0.3, 0.2, 0.3, 1, _R.LEAF),
            (-0.2, 0.6, -0.15, 0.32, 0.22, 0.32, 1, _R.LEAF),
        ),
    ),
    Body.POLES: Template(
        (0.1, 3.0, 20.0),
        (0.22, 7.0, 50.0),
        0,
        tuple((0.0, 0.5, z, 0.5, 0.5, 0.003, 0.0, _R.METAL) for z in (-0.5, -0.2, 0.15, 0.5)),
    ),
    Body.PERSON: Template(
        (0.4, 1.5, 0.3),
        (0.6, 1.9, 0.4),
        0,
        (
            (-0.2, 0.24, 0, 0.18, 0.24, 0.3, 0, _R.DARK),
            (0.2, 0.24, 0, 0.18, 0.24, 0.3, 0, _R.DARK),
            (0, 0.66, 0, 0.42, 0.19, 0.4, 0, _R.CLOTH),
            (0, 0.925, 0, 0.17, 0.075, 0.28, 1, _R.MAIN),
        ),
    ),
    Body.BALL: Template((0.12, 0.12, 0.12), (0.5, 0.5, 0.5), 0, ((0, 0.5, 0, 0.5, 0.5, 0.5, 1, _R.ITEM),)),
    Body.FRUIT: Template(
        (0.2, 0.08, 0.2),
        (0.4, 0.16, 0.4),
        0,
        (
            (-0.3, 0.4, 0.1, 0.2, 0.4, 0.2, 1, _R.COVER),
            (0.1, 0.4, 0.25, 0.2, 0.4, 0.2, 1, _R.COVER),
            (0.25, 0.5, -0.2, 0.25, 0.5, 0.25, 1, _R.COVER),
        ),
    ),
    Body.BUSHES: Template(
        (1.5, 0.8, 5.0),
        (4.0, 4.0, 18.0),
        0,
        (
            (0, 0.4, -0.36, 0.45, 0.5, 0.17, 1, _R.LEAF),
            (0.1, 0.35, -0.1, 0.5, 0.4, 0.2, 1, _R.LEAF),
            (-0.1, 0.5, 0.15, 0.45, 0.5, 0.18, 1, _R.LEAF),
            (0, 0.4, 0.4, 0.5, 0.5, 0.15, 1, _R.LEAF),
        ),
    ),
}

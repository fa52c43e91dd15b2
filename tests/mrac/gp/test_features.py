"""The bands of features against what whole maps of them would be."""

from collections.abc import Callable

import numpy as np
import pytest

from mrac.gp.appearance import Looks, appearance
from mrac.gp.features import Features, Lengths
from mrac.relative import resize_field, sample_bilinear
from tests.conftest import MadeScene

LENGTHS = Lengths(position=1.6, region=0.8, relative=0.5, colour=4.0)


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (60, 80), (200, 131)])
def test_bands_are_the_maps_enlarged_as_a_whole(shape: tuple[int, int], make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene(1, shape)
    H, W = shape
    uv_px = np.random.default_rng(0).uniform(-0.5, 0.49, (30, 2)) + np.random.default_rng(1).integers(
        0, (W, H), (30, 2)
    )
    features = Features(Looks(made.image), made.relative.values, LENGTHS)
    whole = features.band(0, H)
    parts = np.concatenate([features.band(*rows) for rows in features.split(0, H, 3 * W)], axis=1)
    np.testing.assert_array_equal(parts, whole)

    colour, regions = appearance(made.image)
    cells = np.concatenate([colour / LENGTHS.colour, regions / LENGTHS.region])
    maps = np.stack([resize_field(cell, shape) for cell in cells])
    np.testing.assert_allclose(whole[2:7].reshape(5, H, W), maps, rtol=1e-6, atol=1e-6)
    at_anchors = np.stack([sample_bilinear(field, uv_px) for field in maps], axis=1)
    np.testing.assert_allclose(features.at(uv_px, None)[:, 2:7], at_anchors, rtol=1e-6, atol=1e-6)


def test_bands_cover_every_row_once(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene(1, (700, 400))
    features = Features(Looks(made.image), made.relative.values, LENGTHS)
    rows = [row for top, bottom in features.bands() for row in range(top, bottom)]
    assert rows == list(range(700))
    assert len(features.bands()) > 2

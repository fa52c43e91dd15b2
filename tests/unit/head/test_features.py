"""The bands of features against what whole maps of them would be."""

from collections.abc import Callable

import numpy as np
import pytest

from mrac.conventions import FloatArray
from mrac.head._appearance import appearance
from mrac.head._base import Scene
from mrac.head._features import Features, Lengths
from mrac.relative import resize_field, sample_bilinear
from mrac.types import FitResult, Samples
from tests.conftest import MadeScene

LENGTHS = Lengths(position=1.6, region=0.8, relative=0.5, colour=4.0)


def scene_at(made: MadeScene, uv_px: FloatArray) -> Scene:
    x = sample_bilinear(made.relative.values, uv_px)
    samples = Samples(uv_px, np.ones(len(x)), x, "depth", True, np.ones(len(x)))
    fit = FitResult(1.0, 0.0, np.zeros((2, 2)), 0.1, np.ones(len(x), np.bool_))
    return Scene(made.image, made.relative.values, samples, fit)


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (60, 80), (200, 131)])
def test_bands_are_the_maps_enlarged_as_a_whole(shape: tuple[int, int], make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene(1, shape)
    H, W = shape
    uv_px = np.random.default_rng(0).uniform(-0.5, 0.49, (30, 2)) + np.random.default_rng(1).integers(
        0, (W, H), (30, 2)
    )
    features = Features(scene_at(made, uv_px), LENGTHS)
    whole = features.band(0, H)
    parts = np.concatenate([features.band(*rows) for rows in features.split(0, H, 3 * W)], axis=1)
    np.testing.assert_array_equal(parts, whole)

    colour, regions = appearance(made.image)
    cells = np.concatenate([colour / LENGTHS.colour, regions / LENGTHS.region])
    maps = np.stack([resize_field(cell, shape) for cell in cells])
    np.testing.assert_allclose(whole[2:7].reshape(5, H, W), maps, atol=1e-6)
    at_anchors = np.stack([sample_bilinear(field, uv_px) for field in maps], axis=1)
    np.testing.assert_allclose(features.anchors[:, 2:7], at_anchors, atol=1e-6)


def test_bands_cover_every_row_once(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene(1, (700, 400))
    features = Features(scene_at(made, np.zeros((1, 2))), LENGTHS)
    rows = [row for top, bottom in features.bands() for row in range(top, bottom)]
    assert rows == list(range(700))
    assert len(features.bands()) > 2

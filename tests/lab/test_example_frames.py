"""The shipped example frames are what their script renders."""

import numpy as np
import pytest

from mrac import examples
from mrac.lab.example_frames import RECIPES, SIZE, true_depth


@pytest.mark.parametrize("name", list(RECIPES))
def test_the_shipped_depth_is_that_of_the_seed(name: str) -> None:
    # A fifth of the size: its rays go through the centres of every fifth pixel, so that depth is equal, not alike.
    recipe, shipped = RECIPES[name], examples.load(name)
    small = true_depth(recipe, (SIZE[0] // 5, SIZE[1] // 5))
    stored = shipped.depth_m[2::5, 2::5]
    assert small.shape == stored.shape
    held = small * recipe.depth_scale <= 65535
    np.testing.assert_array_equal(np.isfinite(stored), held)
    # A ray along an edge may fall on either side of it by rounding.
    off = np.abs(small - stored)[held] > 0.51 / recipe.depth_scale
    assert off.mean() < 0.001

"""The shipped example frames are what their script renders."""

import numpy as np
import pytest

from mrac import examples
from mrac.lab.example_frames import RECIPES, SIZE, dice_of
from mrac.lab.train.synthetic.scenes.render import render


@pytest.mark.parametrize("name", list(RECIPES))
def test_the_shipped_depth_is_that_of_the_seed(name: str) -> None:
    # A fifth of the size: its rays go through the centres of every fifth pixel, so that depth is equal, not alike.
    recipe, shipped = RECIPES[name], examples.load(name)
    dice = dice_of(recipe)
    z_m = render(dice, recipe.sampler(dice), (SIZE[0] // 5, SIZE[1] // 5), None)[1][0, 0].numpy()
    small = np.where(np.isfinite(z_m), z_m, np.nan)
    stored = shipped.depth_m[2::5, 2::5]
    assert small.shape == stored.shape
    held = small * recipe.depth_scale <= 65535
    np.testing.assert_array_equal(np.isfinite(stored), held)
    # A ray along an edge may fall on either side of it by rounding.
    off = np.abs(small - stored)[held] > 0.51 / recipe.depth_scale
    assert off.mean() < 0.001

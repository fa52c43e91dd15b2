"""Every pair once, or a draw that a seed repeats."""

from itertools import combinations

import numpy as np

from mrac.robust_line.pairs import pairs


def test_few_points_give_every_pair_once() -> None:
    assert [tuple(pair) for pair in pairs(7, 21, 0).tolist()] == list(combinations(range(7), 2))
    assert len(pairs(1, 10, 0)) == 0


def test_many_points_give_a_draw_of_the_seed() -> None:
    drawn = pairs(100, 500, 3)
    assert drawn.shape == (500, 2)
    assert set(np.unique(drawn).tolist()) <= set(range(100))
    np.testing.assert_array_equal(drawn, pairs(100, 500, 3))
    assert (drawn != pairs(100, 500, 4)).any()

"""Which anchors a tile is conditioned on, where several are equally far."""

import numpy as np
import pytest

from mrac.head._tiles import NUM_NEAREST, nearest_anchors


@pytest.mark.parametrize("num", [NUM_NEAREST + 2, 200, 441])
def test_of_equally_far_anchors_the_first_are_taken(num: int) -> None:
    """At whole pixels the last of the nearest is often as far as the next; any tree would take any of them."""
    rng = np.random.default_rng(num)
    pixel = np.sort(rng.choice(21 * 21, num, replace=False))
    uv_px = np.stack([pixel % 21, pixel // 21], axis=1).astype(np.float64)
    centres = np.stack(np.meshgrid([0.0, 7.0, 10.0], [0.0, 10.0, 20.0]), axis=2).reshape(-1, 2)
    square = ((centres[:, None] - uv_px) ** 2).sum(axis=2)
    expected = np.argsort(square, axis=1, kind="stable")[:, :NUM_NEAREST]
    found = nearest_anchors(uv_px, centres)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(expected, axis=1))


def test_all_anchors_equally_far() -> None:
    angle = np.arange(60) * (2.0 * np.pi / 4.0)
    uv_px = np.round(np.stack([np.cos(angle), np.sin(angle)], axis=1))
    found = nearest_anchors(uv_px, np.zeros((1, 2)))
    np.testing.assert_array_equal(np.sort(found[0]), np.arange(NUM_NEAREST))

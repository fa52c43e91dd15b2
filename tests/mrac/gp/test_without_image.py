"""What is known without an image is what the features of a plain one would be."""

import numpy as np

from mrac.gp.appearance import Looks
from mrac.gp.features import Features, Lengths
from mrac.gp.without_image import places


def test_a_plain_image_says_no_more() -> None:
    H, W = 90, 90
    relative = np.linspace(0.0, 1.0, H * W, dtype=np.float32).reshape(H, W)
    uv_px = np.array([[0.0, 0.0], [89.0, 89.0], [10.0, 70.0], [44.0, 3.0]])
    x = relative[uv_px[:, 1].astype(int), uv_px[:, 0].astype(int)].astype(np.float64)
    lengths = Lengths(region=1e6)  # where nothing has an edge, regions are positions again
    low, high = np.percentile(relative[::4, ::4], [2.0, 98.0])
    seen = Features(Looks(np.full((H, W, 3), 90, np.uint8)), relative, lengths).at(uv_px, x)
    known = places(uv_px, x, (float(low), float(high)), lengths)
    for k in range(4):
        for j in range(4):
            expected = np.linalg.norm(seen[k] - seen[j])
            np.testing.assert_allclose(np.linalg.norm(known[k] - known[j]), expected, rtol=0.02, atol=1e-3)


def test_without_relative_depth_and_on_one_spot() -> None:
    found = places(np.zeros((3, 2)), None, (0.0, 0.0), Lengths())
    np.testing.assert_array_equal(found, 0.0)
    assert np.isfinite(places(np.zeros((3, 2)), np.ones(3), (1.0, 1.0), Lengths())).all()

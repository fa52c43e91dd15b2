import numpy as np

from mrac.demo.stereo import disparity


def test_finds_a_known_shift() -> None:
    rng = np.random.default_rng(0)
    right = rng.integers(0, 256, (60, 120, 3), dtype=np.uint8)
    left = np.roll(right, 7, axis=1)
    found = disparity(left, right, 12)[10:-10, 30:-30]
    assert np.isfinite(found).mean() > 0.9
    np.testing.assert_allclose(found[np.isfinite(found)], 7, atol=0.6)

import numpy as np
import pytest

from mrac.head._sigma import rms, uniform_sigma
from mrac.space import SIGMA_SHARE, bounded_sigma


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_deviation_stays_within_its_shares_of_the_depth(dtype: type[np.floating]) -> None:
    depth_m = np.array([1.0, 2.0, 4.0], dtype)
    low, high = SIGMA_SHARE
    sigma_m = bounded_sigma(depth_m, np.array([0.0, 0.5, np.inf], dtype))
    np.testing.assert_allclose(sigma_m, [low, 0.5, 4.0 * high], rtol=1e-6)
    assert sigma_m.dtype == dtype


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1e-3), (0.2, 0.2), (np.inf, 10.0)])
def test_one_share_for_all_pixels_is_bounded_too(share: float, expected: float) -> None:
    depth_m = np.array([[1.0, 7.0]], np.float32)
    sigma_m = uniform_sigma(depth_m, share)
    np.testing.assert_allclose(sigma_m, expected * depth_m, rtol=1e-6)
    assert sigma_m.dtype == np.float32


def test_root_mean_square() -> None:
    assert rms(np.array([3.0, -4.0, 0.0, 0.0])) == pytest.approx(2.5)

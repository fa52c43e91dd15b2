"""The curve at every pixel is that of `DepthCurve`, in single precision."""

import numpy as np
import pytest

from mrac.head._depth_curve import log_depth_on
from mrac.types import DepthCurve


@pytest.mark.parametrize("num_knots", [2, 3, 40])
def test_it_is_the_curve_within_the_limits(num_knots: int) -> None:
    rng = np.random.default_rng(num_knots)
    for _ in range(20):
        curve = DepthCurve(np.sort(rng.normal(size=num_knots)), rng.normal(size=num_knots))
        # Beyond the outer knots too, in jumps that cross several knots both ways, and on the knots themselves.
        x = np.concatenate([3.0 * rng.normal(size=50), curve.x])[None]
        expected = np.clip(curve(x), -2.0, 2.0)
        np.testing.assert_allclose(log_depth_on(curve, x, -2.0, 2.0), expected, atol=2e-6)
        np.testing.assert_allclose(
            log_depth_on(curve, x.astype(np.float32), -2.0, 2.0), np.clip(curve(x.astype(np.float32)), -2, 2), atol=2e-6
        )


def test_it_takes_a_part_of_a_field() -> None:
    curve = DepthCurve(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    x = np.linspace(0.0, 1.0, 24, dtype=np.float32).reshape(4, 6)[1:3, ::2]  # not contiguous
    np.testing.assert_allclose(log_depth_on(curve, x, -9.0, 9.0), 2.0 * x, rtol=1e-6)

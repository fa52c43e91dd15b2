import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.head.affine import Affine
from mrac.head.scaffold import Scaffold
from mrac.vi_depth.alignment import align, readings_on_pixels
from mrac.vi_depth.ranges import WIDE
from mrac.vi_depth.scale_map import scale_map
from tests.mrac.head.scenes import scene

RNG = np.random.default_rng(1)
FIELD = (RNG.random((40, 60)) + 1).astype(np.float32)
PIXELS = np.stack([*np.divmod(RNG.choice(40 * 60, 20, replace=False), 60)][::-1], axis=1)
Z_M = RNG.uniform(1.0, 6.0, 20)


def test_is_vi_depth_s_alignment_times_its_scale_map() -> None:
    readings = readings_on_pixels(PIXELS.astype(float), Z_M, FIELD.shape, WIDE)
    aligned = align(FIELD, readings, WIDE).inv_z_per_m
    expected = 1.0 / (aligned * scale_map(aligned, readings).ratio)
    result = Scaffold()(scene(FIELD, PIXELS, Z_M))
    np.testing.assert_allclose(result.depth_m, expected, rtol=1e-4)
    np.testing.assert_allclose(result.depth_m[PIXELS[:, 1], PIXELS[:, 0]], Z_M, rtol=1e-4)
    assert result.status == "ok"


def test_without_a_triangle_it_is_the_fit() -> None:
    made = scene(FIELD, PIXELS[:2], Z_M[:2])
    result = Scaffold()(made)
    np.testing.assert_array_equal(result.depth_m, Affine()(made).depth_m)
    assert result.status == "too_few_anchors"


def test_limits_are_checked() -> None:
    with pytest.raises(ContractError, match="min_m = 5 must be below max_m = 2"):
        Scaffold(min_m=5.0, max_m=2.0)

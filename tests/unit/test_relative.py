import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from mrac import ContractError, RelativeDepth
from mrac.relative import fill_invalid, sample_bilinear


@given(st.data())
def test_bilinear_equals_scipy(data: st.DataObject) -> None:
    H, W = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    field = np.random.default_rng(H * 7 + W).random((H, W)).astype(np.float32)
    u = data.draw(st.floats(-0.5, W - 0.5))
    v = data.draw(st.floats(-0.5, H - 0.5))
    expected = ndimage.map_coordinates(field.astype(np.float64), [[v], [u]], order=1, mode="nearest")
    np.testing.assert_allclose(sample_bilinear(field, np.array([[u, v]])), expected, atol=1e-7)


def test_bilinear_is_exact_on_a_ramp() -> None:
    v, u = np.mgrid[0:20, 0:30].astype(np.float32)
    uv = np.random.default_rng(0).uniform(0, 19, (50, 2))
    np.testing.assert_allclose(sample_bilinear(2 * u + 3 * v, uv), uv @ [2, 3], atol=1e-4)


def test_holes_take_the_nearest_value_and_sky_the_farthest() -> None:
    values = np.array([[1.0, np.nan, 5.0, np.inf, -np.inf]])
    filled, own = fill_invalid(RelativeDepth(values, "depth"))
    np.testing.assert_array_equal(filled, [[1.0, filled[0, 1], 5.0, 5.0, 5.0]])
    assert filled[0, 1] in (1.0, 5.0)
    np.testing.assert_array_equal(own, [[True, False, True, False, False]])


def test_infinite_inverse_depth_is_a_hole() -> None:
    filled, _ = fill_invalid(RelativeDepth([[1.0, np.inf, 7.0, 7.0]], "inverse_depth"))
    assert filled[0, 1] in (1.0, 7.0)


def test_nothing_finite_is_refused() -> None:
    with pytest.raises(ContractError, match="none of the 4 values is finite"):
        fill_invalid(RelativeDepth(np.full((2, 2), np.nan), "depth"))

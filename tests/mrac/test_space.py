import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrac.errors import ContractError
from mrac.space import (
    MAX_DEPTH_M,
    MIN_DEPTH_M,
    SPACES,
    Space,
    as_space,
    depth_std,
    from_space,
    log_from_space,
    to_space,
)


@given(z=st.floats(MIN_DEPTH_M, MAX_DEPTH_M), space=st.sampled_from(SPACES))
def test_there_and_back(z: float, space: Space) -> None:
    assert from_space(to_space([z], space), space)[0] == pytest.approx(z, rel=1e-12)


@given(y=st.floats(allow_nan=False), space=st.sampled_from(SPACES))
def test_the_way_back_is_safe_from_anywhere(y: float, space: Space) -> None:
    z = from_space(np.array([y]), space)[0]
    assert MIN_DEPTH_M * 0.999 <= z <= MAX_DEPTH_M * 1.001


def test_inverse_depth_at_or_below_zero_is_far() -> None:
    np.testing.assert_allclose(from_space(np.array([0.0, -3.0]), "inverse_depth", 0.1, 80.0), [80.0, 80.0])


def test_keeps_float32() -> None:
    for space in SPACES:
        assert from_space(np.ones(3, np.float32), space).dtype == np.float32


@pytest.mark.parametrize("space", SPACES)
def test_deviation_is_first_order(space: Space) -> None:
    z, step = np.array([2.5]), 1e-6
    moved = np.abs(from_space(to_space(z, space) + step, space) - z)
    np.testing.assert_allclose(depth_std(z, np.array([step]), space), moved, rtol=1e-4)


def test_unknown_space_names_the_known_ones() -> None:
    with pytest.raises(ContractError, match=r"disparity.*depth, inverse_depth, log_depth"):
        as_space("disparity")


@given(y=st.floats(-1e300, 1e300), space=st.sampled_from(SPACES))
def test_the_logarithm_agrees(y: float, space: Space) -> None:
    values = np.array([y])
    assert log_from_space(values, space)[0] == pytest.approx(np.log(from_space(values, space)[0]), abs=1e-5)

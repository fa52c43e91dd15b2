import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mrac import RelativeDepth
from mrac.runtime.cache.codec import decode, encode
from mrac.space import SPACES

KEY = "a" * 64


def bits(relative: RelativeDepth) -> list[list[int]]:
    return relative.values.view(np.uint32).tolist()  # type: ignore[no-any-return]


@given(
    values=hnp.arrays(np.uint32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9)).map(lambda a: a.view("f4")),
    space=st.sampled_from(SPACES),
)
def test_any_bits_come_back(values: np.ndarray[tuple[int, int], np.dtype[np.float32]], space: str) -> None:
    """Every pattern of 32 bits: infinities, signed zeros, the smallest numbers and NaN with whatever it carries."""
    relative = RelativeDepth(values, space)
    again = decode(KEY, encode(KEY, relative))
    assert again is not None
    assert bits(again) == bits(relative)
    assert again.values.dtype == np.float32
    assert again.space == space


@pytest.mark.parametrize("shape", [(1, 1), (1, 3_000_000), (3_000_000, 1), (1500, 2003)])
def test_fields_of_several_bands(shape: tuple[int, int]) -> None:
    relative = RelativeDepth(np.random.default_rng(0).random(shape, np.float32) * 5000, "inverse_depth")
    again = decode(KEY, encode(KEY, relative))
    assert again is not None
    np.testing.assert_array_equal(again.values, relative.values)


def test_a_transposed_field() -> None:
    relative = RelativeDepth(np.arange(12.0).reshape(3, 4).T, "depth")
    again = decode(KEY, encode(KEY, relative))
    assert again is not None
    np.testing.assert_array_equal(again.values, relative.values)


def test_a_smooth_field_is_under_half_its_size() -> None:
    v, u = np.mgrid[0:480, 0:640]
    relative = RelativeDepth(1000 / (1 + v / 300 + 0.1 * np.sin(u / 40)), "inverse_depth")
    assert len(encode(KEY, relative)) < relative.values.nbytes / 2


STORED = encode(KEY, RelativeDepth(np.arange(30.0).reshape(5, 6), "log_depth"))


@given(at=st.integers(0, len(STORED) - 1), flip=st.integers(1, 255))
def test_one_wrong_byte_anywhere_is_found(at: int, flip: int) -> None:
    damaged = bytearray(STORED)
    damaged[at] ^= flip
    assert decode(KEY, bytes(damaged)) is None


@given(length=st.integers(0, len(STORED) - 1))
def test_a_file_cut_short_is_found(length: int) -> None:
    assert decode(KEY, STORED[:length]) is None


def test_a_file_under_another_s_name_is_found() -> None:
    assert decode(KEY, STORED) is not None
    assert decode("b" * 64, STORED) is None

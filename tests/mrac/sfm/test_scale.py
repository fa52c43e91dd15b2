"""The scale of a model from metric readings, half of which may be wrong."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac.errors import ContractError
from mrac.sfm import scale_from
from tests.mrac.sfm.test_triangulation import model_of

XYZ = np.random.default_rng(1).uniform((-1.0, -1.0, 2.0), (1.0, 1.0, 6.0), (40, 3))
MODEL = model_of(np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.1]]), XYZ)


@settings(deadline=None, max_examples=30)
@given(scale=st.floats(1e-3, 1e3), num_wrong=st.integers(0, 19), seed=st.integers(0, 2**32 - 1))
def test_it_withstands_wrong_readings(scale: float, num_wrong: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    image = MODEL.images[1]
    z_m = scale * image.camera_from_world.apply(XYZ)[:, 2]
    z_m[rng.permutation(40)[:num_wrong]] *= rng.choice([0.1, 3.0, 1000.0])
    off = rng.uniform(-0.5, 0.5, (40, 2))
    assert scale_from(MODEL, "1.png", image.uv_px + off, z_m) == pytest.approx(scale)


def test_readings_that_are_none_are_left_out() -> None:
    image = MODEL.images[0]
    z_m = 2.0 * XYZ[:, 2]
    z_m[:15], z_m[15:25], z_m[25:30] = np.nan, 0.0, -1.0
    assert scale_from(MODEL, "0.png", image.uv_px, z_m, max_distance_px=1.0) == pytest.approx(2.0)


@pytest.mark.parametrize("num", [0, 4])
def test_too_few_readings_are_one_line(num: int) -> None:
    uv = MODEL.images[0].uv_px[:num]
    with pytest.raises(ContractError, match=rf"{num} points of '0.png' lie within 0.01 px of a reading, 5 are needed"):
        scale_from(MODEL, "0.png", uv, np.ones(num), max_distance_px=0.01)


def test_an_unknown_image_is_one_line() -> None:
    assert MODEL.folder == Path("made")
    with pytest.raises(ContractError, match="no registered image"):
        scale_from(MODEL, "x.jpg", np.zeros((1, 2)), np.ones(1))

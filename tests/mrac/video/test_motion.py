"""Corners found again, and the motion of the camera from them, on a rendered plane whose motion is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import ndimage

from mrac import Camera
from mrac.video.matching import Matches, find_corners, match
from mrac.video.motion import find_motion
from tests.mrac.video.test_calibrator import texture

CAMERA = Camera(110.0, 110.0, 63.5, 47.5, 128, 96)


def scattered(num: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return rng.uniform((8, 8), (119, 87), (num, 2)), rng.uniform(1.0, 4.0, num)


@settings(max_examples=25, deadline=None)
@given(
    turn=st.floats(-0.1, 0.1),
    shift=st.tuples(*[st.floats(-0.15, 0.15)] * 3),
    share=st.floats(0.0, 0.3),
    seed=st.integers(0, 1000),
)
def test_a_known_motion_is_found_among_wrong_matches(
    turn: float, shift: tuple[float, float, float], share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    before, z_m = scattered(80, rng)
    rotation = np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])
    points = CAMERA.unproject(before, z_m) @ rotation.T + shift
    after = CAMERA.project(points)
    wrong = rng.permutation(80)[: round(share * 80)]
    after[wrong] += rng.choice([-1, 1], (wrong.size, 2)) * rng.uniform(15, 40, (wrong.size, 2))
    motion = find_motion(Matches(before, after), z_m, CAMERA)
    assert motion is not None
    uv, z = motion.moved(CAMERA, before, z_m)
    right = np.setdiff1d(np.arange(80), wrong)
    np.testing.assert_allclose(z[right], points[right, 2], rtol=0.02)
    assert np.abs(uv[right] - after[right]).max() < 0.5


def test_random_matches_show_no_motion() -> None:
    rng = np.random.default_rng(0)
    before, z_m = scattered(60, rng)
    after, _ = scattered(60, rng)
    assert find_motion(Matches(before, after), z_m, CAMERA) is None
    assert find_motion(Matches(before[:5], before[:5]), z_m[:5], CAMERA) is None


@pytest.mark.parametrize("step", [(0, 0), (7, -5), (23, 11)])
def test_corners_of_a_shifted_picture_are_found_again(step: tuple[int, int]) -> None:
    large = ndimage.gaussian_filter(texture(3, (160, 200)).astype(np.float64), (0.8, 0.8, 0)).astype(np.uint8)
    u, v = step
    first, second = large[20:116, 30:158], large[20 + v : 116 + v, 30 + u : 158 + u]
    found = match(find_corners(first), find_corners(second))
    assert len(found) >= 12
    off = np.abs(found.after_px - found.before_px + step).max(axis=1)
    assert np.mean(off < 0.5) > 0.9


def test_a_picture_without_corners_has_none() -> None:
    corners = find_corners(np.full((40, 60, 3), 128, np.uint8))
    assert len(corners.uv_px) == 0
    assert len(match(corners, corners)) == 0
    assert len(find_corners(np.zeros((1, 1, 3), np.uint8)).uv_px) == 0

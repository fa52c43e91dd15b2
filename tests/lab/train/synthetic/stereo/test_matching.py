"""Semi-global matching: right on texture to a fraction of a pixel, and an answer everywhere."""

import numpy as np
import pytest
from scipy import ndimage

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.lab.train.synthetic.stereo.matching import Matcher

H, W, D = 60, 120, 20


def texture(seed: int = 0, width: int = W + 40) -> FloatArray:
    """(H, width) blobs of about two pixels."""
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=(H, width)), 1.2)
    return np.asarray(128.0 + 40.0 * noise / noise.std())


def seen_at(picture: FloatArray, columns: FloatArray) -> FloatArray:
    """The picture at (H, W) columns."""
    rows = np.broadcast_to(np.arange(H, dtype=float)[:, None], columns.shape)
    return np.asarray(ndimage.map_coordinates(picture, [rows, columns], order=3, mode="nearest"))


@pytest.mark.parametrize("shift_px", [0.6, 7.0, 12.4])
@pytest.mark.parametrize("window_px", [1, 5, 11])
def test_a_shifted_texture_is_matched_to_a_fraction_of_a_pixel(shift_px: float, window_px: int) -> None:
    picture, columns = texture(), np.broadcast_to(np.arange(W, dtype=float), (H, W))
    matcher = Matcher(num_disparities=D, window_px=window_px)
    found = matcher(picture[:, :W], seen_at(picture, columns + shift_px))[:, D - 1 :]
    assert np.median(np.abs(found - shift_px)) < 0.3
    assert np.mean(np.abs(found - shift_px) > 1.0) < 0.02


def test_a_slanted_plane_is_followed() -> None:
    picture = texture(1)
    right = np.broadcast_to(np.arange(W, dtype=float), (H, W))
    slope = 0.1
    left_of = right * (1.0 + slope) + 2.0  # where the right view's pixels lie in the left one
    truth = np.arange(W) - (np.arange(W) - 2.0) / (1.0 + slope)
    off = np.abs(Matcher(num_disparities=D)(picture[:, :W], seen_at(picture, left_of)) - truth)[:, D - 1 :]
    assert np.median(off) < 0.3
    assert np.mean(off > 1.0) < 0.05


def test_two_surfaces_are_told_apart() -> None:
    picture, columns = texture(2), np.broadcast_to(np.arange(W, dtype=float), (H, W))
    shift_px = np.where(np.arange(H) < H // 2, 3.0, 14.0)[:, None]
    off = np.abs(Matcher(num_disparities=D)(picture[:, :W], seen_at(picture, columns + shift_px)) - shift_px)
    assert np.mean(off[:, D - 1 :] > 1.0) < 0.1


def test_large_windows_and_penalties_quieten_noise() -> None:
    rng = np.random.default_rng(3)
    picture, columns = texture(3), np.broadcast_to(np.arange(W, dtype=float), (H, W))
    left = picture[:, :W] + rng.normal(0.0, 30.0, (H, W))
    right = seen_at(picture, columns + 8.0) + rng.normal(0.0, 30.0, (H, W))
    rough = Matcher(num_disparities=D, window_px=1, small_penalty=0.0, large_penalty=0.0)
    shares = [np.mean(np.abs(m(left, right)[:, D - 1 :] - 8.0) > 1.0) for m in (rough, Matcher(num_disparities=D))]
    assert shares[0] > 0.3
    assert shares[1] < 0.1


def test_every_pixel_but_those_that_cannot_be_seen_has_a_disparity() -> None:
    found = Matcher(num_disparities=D)(np.full((H, W), 90.0), texture()[:, :W])
    assert found.dtype == np.float32
    assert np.isnan(found[:, : D - 1]).all()
    assert ((found[:, D - 1 :] >= 0.0) & (found[:, D - 1 :] <= D - 1)).all()


def test_what_cannot_be_matched_is_refused() -> None:
    with pytest.raises(ContractError, match="odd window"):
        Matcher(num_disparities=D, window_px=4)
    with pytest.raises(ContractError, match="one size"):
        Matcher(num_disparities=D)(np.zeros((H, W)), np.zeros((H, W - 1)))
    with pytest.raises(ContractError, match="as wide"):
        Matcher(num_disparities=D)(np.zeros((H, D - 1)), np.zeros((H, D - 1)))

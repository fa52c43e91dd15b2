"""Readings of a made-up stereo camera: right on texture, wrong without, wrong together."""

import numpy as np
import pytest
from scipy import ndimage

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.lab.train.synthetic.stereo.readings import stereo_scan

H, W = 120, 200


def textured(shape: tuple[int, int] = (H, W)) -> ImageArray:
    noise = ndimage.gaussian_filter(np.random.default_rng(0).normal(size=shape), 1.3)
    grey = np.clip(128.0 + 45.0 * noise / noise.std(), 0.0, 255.0).astype(np.uint8)
    return np.dstack([grey] * 3)


def plane(shape: tuple[int, int] = (H, W)) -> FloatArray:
    """A floor that comes nearer towards the bottom."""
    return np.broadcast_to(np.linspace(5.0, 2.0, shape[0])[:, None], shape).copy()


def wrong(z_m: FloatArray, truth_m: FloatArray) -> float:
    """Share of the readings that are more than a tenth off."""
    read = z_m > 0
    return float(np.mean(np.abs(z_m[read] / truth_m[read] - 1.0) > 0.1))


def test_texture_is_read_right_and_a_blank_wall_is_not() -> None:
    blank = np.full((H, W, 3), 130, np.uint8)
    shares = [
        [wrong(stereo_scan(image, plane(), np.random.default_rng(seed), 10.0), plane()) for seed in range(6)]
        for image in (textured(), blank)
    ]
    assert np.median(shares[0]) < 0.05
    assert np.median(shares[1]) > 0.25


def test_readings_are_in_range_and_miss_a_strip_on_one_side_only() -> None:
    sides = set()
    for seed in range(8):
        z_m = stereo_scan(textured(), plane(), np.random.default_rng(seed), 4.0)
        assert z_m.dtype == np.float64
        assert z_m.shape == (H, W)
        read = z_m > 0
        assert ((z_m[read] >= 0.05) & (z_m[read] <= 4.8)).all()
        columns = np.asarray(read.any(axis=0))
        assert np.array_equal(read, np.broadcast_to(columns, (H, W)))
        assert columns.mean() > 0.7
        assert columns[0] != columns[-1]
        sides.add(bool(columns[0]))
    assert sides == {True, False}


def test_large_pictures_are_read_at_every_other_pixel() -> None:
    shape = (480, 500)
    z_m = stereo_scan(textured(shape), plane(shape), np.random.default_rng(0), 10.0)
    assert (z_m[::2, ::2] > 0).mean() > 0.7
    assert not z_m[1::2].any()
    assert not z_m[:, 1::2].any()


def test_errors_gather_at_the_edges_of_what_is_near() -> None:
    depth = np.full((H, W), 5.0)
    depth[30:90, 70:130] = 2.0
    edge = ndimage.morphological_gradient(depth, size=(1, 15)) > 0
    beside, away = [], []
    for seed in range(6):
        z_m = stereo_scan(textured(), depth, np.random.default_rng(seed), 10.0)
        beside.append(wrong(np.where(edge, z_m, 0.0), depth))
        away.append(wrong(np.where(edge, 0.0, z_m), depth))
    assert np.mean(beside) > 0.1
    assert np.mean(beside) > 3.0 * np.mean(away)


def test_steps_of_coarse_depth_are_not_edges() -> None:
    """An 8-bit depth map has terraces of four hundredths of a metre."""
    depth = np.broadcast_to(np.linspace(0.6, 1.6, W), (H, W))
    coarse = np.round(depth / 0.04) * 0.04
    assert wrong(stereo_scan(textured(), coarse, np.random.default_rng(2), 10.0), depth) < 0.1


def test_readings_are_repeated_by_their_seed() -> None:
    one, two, other = (stereo_scan(textured(), plane(), np.random.default_rng(seed), 10.0) for seed in (4, 4, 5))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("hole", [0.0, np.nan])
def test_depth_with_holes_is_refused(hole: float) -> None:
    depth = plane()
    depth[3, 4] = hole
    with pytest.raises(ContractError, match="Complete the depth"):
        stereo_scan(textured(), depth, np.random.default_rng(0), 10.0)

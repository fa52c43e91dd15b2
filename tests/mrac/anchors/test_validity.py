"""One reading per pixel, by a vote that the order of the readings does not change."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from mrac import Anchors
from mrac.anchors._validity import Usable, usable
from mrac.conventions import FloatArray

SHAPE = (6, 8)
SCAN = (
    Path(os.environ.get("MRAC_DATA", Path(__file__).parents[4] / "shared" / "data")) / "train/kitti15/lidar/000002.png"
)


def of(uv: FloatArray | list[list[float]], z: FloatArray | list[float], sigma: list[float] | None = None) -> Usable:
    return usable(Anchors(uv, z, sigma), SHAPE, None)


def pixels(uv: FloatArray) -> FloatArray:
    return np.asarray(np.floor(uv + 0.5))


@st.composite
def crowded(draw: st.DrawFn) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Readings of which many share a pixel, some exact copies, some at the border between two pixels."""
    K = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    uv = rng.integers(0, draw(st.integers(1, 6)), (K, 2)) + rng.choice([-0.5, -0.25, 0.0, 0.1, 0.49], (K, 2))
    z = rng.choice([1.0, 1.05, 1.1, 1.12, 2.0, 2.05, 4.0, 0.0, np.nan], K) * np.exp(
        rng.choice([0.0, 0.01]) * rng.normal(size=K)
    )
    sigma = rng.choice([0.0, 0.01, 0.3, 3.0], K) if draw(st.booleans()) else None
    return uv, z, sigma


@settings(max_examples=300, deadline=None)
@given(readings=crowded(), seed=st.integers(0, 1000))
def test_the_order_changes_nothing(readings: tuple[FloatArray, FloatArray, FloatArray | None], seed: int) -> None:
    uv, z, sigma = readings
    order = np.random.default_rng(seed).permutation(z.size)
    first = usable(Anchors(uv, z, sigma), SHAPE, None)
    second = usable(Anchors(uv[order], z[order], None if sigma is None else sigma[order]), SHAPE, None)
    for one, other in zip(vars(first.readings).values(), vars(second.readings).values(), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(second.reason, first.reason[order])
    np.testing.assert_array_equal(second.place, first.place[order])


@settings(max_examples=300, deadline=None)
@given(readings=crowded())
def test_one_reading_per_pixel_row_by_row(readings: tuple[FloatArray, FloatArray, FloatArray | None]) -> None:
    uv, z, sigma = readings
    out = usable(Anchors(uv, z, sigma), SHAPE, None)
    good = (out.reason == "") | (out.reason == "outvoted")
    at = pixels(out.readings.uv_px)
    number = at[:, 1] * SHAPE[1] + at[:, 0]
    assert (np.diff(number) > 0).all()
    assert {tuple(p) for p in at} == {tuple(p) for p in pixels(uv[good])}
    wins = out.place >= 0
    np.testing.assert_array_equal(wins, out.reason == "")
    np.testing.assert_array_equal(at[out.place[wins]], pixels(uv[wins]))
    for i, reading in enumerate(out.readings.z_m):
        group = z[out.place == i]
        assert reading == np.median(group)
        if sigma is None:
            assert np.ptp(np.log(group)) <= 0.2 + 1e-9


@settings(max_examples=200, deadline=None)
@given(right=st.integers(2, 9), data=st.data(), z=st.floats(0.1, 1000), seed=st.integers(0, 1000))
def test_the_majority_wins(right: int, data: st.DataObject, z: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    factors = data.draw(st.lists(st.floats(0.02, 0.8) | st.floats(1.25, 5.0), max_size=right - 1))
    reading = z * np.concatenate([rng.uniform(0.98, 1.02, right), factors])
    order = rng.permutation(reading.size)
    uv = np.array([3.0, 2.0]) + rng.uniform(-0.5, 0.49, (reading.size, 2))
    out = of(uv, reading[order])
    assert out.readings.z_m == pytest.approx([z], rel=0.02)
    assert (out.reason[np.argsort(order)][:right] == "").all()
    assert (out.reason[np.argsort(order)][right:] == "outvoted").all()
    np.testing.assert_allclose(out.readings.uv_px[0], uv[out.reason == ""].mean(axis=0))


def test_copies_are_the_reading_itself() -> None:
    out = of([[1.1, 2.3]] * 7, [3.3] * 7, [0.07] * 7)
    assert (out.readings.uv_px.tolist(), out.readings.z_m.tolist()) == ([[1.1, 2.3]], [3.3])
    assert out.readings.sigma_m is not None
    assert out.readings.sigma_m.tolist() == [0.07]
    assert (out.place == 0).all()


def test_half_pixels_belong_to_the_next() -> None:
    assert len(of([[0.5, 0], [1.5, 0], [2.5, 0], [3.5, 0]], [1.0, 1.0, 1.0, 1.0]).readings) == 4


AROUND = [[2.0, 3.0], [4.0, 3.0], [3.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("around", "winner"),
    [
        ([2.0, 2.1, 1.9, 2.0], 2.0),
        ([1.0, 1.0, 1.02, 1.0], 1.0),
        ([2.0, 2.1, 1.9, 1.0], 1.0),  # an edge: the nearer surface hides the other
        ([2.5, 2.6, 2.7, 2.4], 2.0),  # neither is there: the nearer to the median
        ([], 1.0),
    ],
)
def test_a_tie_is_decided_by_the_readings_around(around: list[float], winner: float) -> None:
    for pair in ([1.0, 2.0], [2.0, 1.0]):
        out = of([[3.0, 3.0], [3.1, 3.0], *AROUND[: len(around)]], [*pair, *around])
        kept = out.reason[:2] == ""
        assert np.array(pair)[kept].tolist() == [winner]
        assert (out.reason[2:] == "").all()


def test_a_tie_between_two_groups_is_decided_alike() -> None:
    out = of([[3.0, 3.0]] * 4 + AROUND, [1.0, 2.0, 1.02, 2.02, 2.0, 2.0, 2.0, 2.0])
    assert out.reason.tolist() == ["outvoted", "", "outvoted", "", "", "", "", ""]
    assert 2.01 in out.readings.z_m.tolist()


def test_stated_deviations_widen_what_agrees() -> None:
    uv, z = [[1.0, 1.0]] * 3, [2.0, 2.5, 3.0]
    assert np.count_nonzero(of(uv, z, [0.01] * 3).reason == "") == 1
    out = of(uv, z, [0.5] * 3)
    assert (out.reason == "").all()
    assert out.readings.z_m.tolist() == [2.5]
    # One that is uncertain does not agree with everything.
    out = of(uv, [2.0, 2.02, 4.0], [0.01, 0.01, 9.0])
    assert out.reason.tolist() == ["", "", "outvoted"]


def test_unusable_readings_have_no_vote() -> None:
    out = of([[1.0, 1.0]] * 5, [0.0, 0.0, -1.0, np.nan, 2.0])
    assert out.reason.tolist() == ["not_positive", "not_positive", "not_positive", "not_finite", ""]
    assert out.place.tolist() == [-1, -1, -1, -1, 0]


@pytest.mark.skipif(not SCAN.exists(), reason="the real data pack is not here")
def test_no_pixel_of_a_real_scan_loses_its_depth() -> None:
    depth_m = np.asarray(Image.open(SCAN)) / 256.0
    v, u = np.nonzero(depth_m)
    rng = np.random.default_rng(0)
    uv = np.repeat(np.stack([u, v], axis=1), 4, axis=0) + rng.uniform(-0.5, 0.49, (4 * u.size, 2))
    z = np.repeat(depth_m[v, u], 4) * np.exp(0.01 * rng.normal(size=4 * u.size))
    z[::4] *= 0.5
    for order in (np.arange(z.size), rng.permutation(z.size)):
        out = usable(Anchors(uv[order], z[order]), (depth_m.shape[0], depth_m.shape[1]), None)
        np.testing.assert_allclose(out.readings.z_m, depth_m[v, u], rtol=0.05)
        np.testing.assert_array_equal(out.reason == "outvoted", order % 4 == 0)

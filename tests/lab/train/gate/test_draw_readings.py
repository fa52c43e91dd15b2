"""Readings for the learned gate: as many wrong as asked for, wrong in the way that is meant."""

from dataclasses import replace

import numpy as np
import pytest

from mrac.lab.train.gate.draw_readings import FAMILIES, DrawnReadings, draw
from tests.lab.train.gate.made_frame import H, W, frame, ramp


@pytest.mark.parametrize("family", ["near", "dropout", "factor", "stereo", "past_edge", "patch"])
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_as_many_are_wrong_as_asked_for(family: str, share: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        drawn = draw(frame(), family, share, 50, rng)
        assert 45 <= drawn.pixels.size <= 50
        assert np.unique(drawn.pixels).size == drawn.pixels.size
        assert (drawn.truth_m > 0).all()
        assert (drawn.z_m > 0).all()
        assert abs(drawn.wrong.mean() - share) < 0.08


@pytest.mark.parametrize("family", list(FAMILIES))
def test_draws_are_repeated_by_their_seed(family: str) -> None:
    one, two = (draw(frame(), family, 0.25, 30, np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(one.pixels, two.pixels)
    np.testing.assert_array_equal(one.z_m, two.z_m)


def test_clean_ones_are_the_truth() -> None:
    drawn = draw(frame(), "clean", 0.0, 40, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn.z_m, drawn.truth_m)


def test_what_sees_past_an_edge_says_what_lies_behind() -> None:
    drawn = draw(frame(), "past_edge", 0.3, 60, np.random.default_rng(1))
    v, u = np.unravel_index(drawn.pixels[drawn.wrong], (H, W))
    assert drawn.wrong.sum() >= 15
    assert ((v >= 30) & (v < 70) & (u >= 40) & (u < 80)).all()
    np.testing.assert_allclose(drawn.z_m[drawn.wrong], 4.0, rtol=0.1)


def test_a_scan_is_read_as_it_is() -> None:
    drawn = draw(frame(scan=True), "scan", 0.25, 60, np.random.default_rng(1))
    assert drawn.wrong.mean() == pytest.approx(0.25)
    np.testing.assert_array_equal(drawn.wrong, drawn.pixels % 7 == 0)


def test_a_sensor_may_be_read_as_it_comes() -> None:
    drawn = draw(frame(scan=True), "scan", -1.0, 700, np.random.default_rng(1))
    assert drawn.wrong.mean() == pytest.approx(1 / 7, abs=0.04)


def test_a_truth_with_holes_is_completed_and_stays_where_it_is() -> None:
    made = frame()
    known = np.random.default_rng(0).random((H, W)) < 0.2
    sparse = replace(made, z_m=np.where(known, made.z_m, 0.0))
    np.testing.assert_array_equal(sparse.dense_m[sparse.z_m > 0], made.z_m[sparse.z_m > 0])
    seen = made.z_m > 0
    assert np.median(np.abs(sparse.dense_m[seen] / made.z_m[seen] - 1.0)) < 0.02
    assert (sparse.dense_m > 0).all()


def test_stereo_cameras_read_other_things_each() -> None:
    one, two, _ = frame().stereo_m
    assert (one > 0).any()
    assert (one != two).any()
    np.testing.assert_array_equal(one, frame().stereo_m[0])


def test_a_frame_with_fewer_pixels_gives_fewer_readings() -> None:
    small = replace(frame(), pixels=frame().pixels[:12])
    for family in FAMILIES:
        assert draw(small, family, 0.25, 50, np.random.default_rng(0)).pixels.size <= 12


@pytest.mark.parametrize("family", ["clean", "near", "dropout", "factor", "stereo"])
def test_coarse_steps_repeat_values_and_make_no_reading_wrong(family: str) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        drawn = draw(ramp(), family, 0.25, 400, rng)
        coarse = drawn.quantised(rng)
        np.testing.assert_array_equal(coarse.pixels, drawn.pixels)
        np.testing.assert_array_equal(coarse.truth_m, drawn.truth_m)
        assert not (coarse.wrong & ~drawn.wrong).any()
        assert np.isfinite(coarse.z_m).all()
        assert (coarse.z_m > 0).all()
        assert (coarse.z_m != drawn.z_m).mean() > 0.5
        assert np.unique(coarse.z_m).size < 0.7 * np.unique(drawn.z_m).size
        right = ~drawn.wrong
        assert np.abs(coarse.z_m - drawn.z_m)[right].max() <= 0.5 * 0.08 * np.median(drawn.z_m) + 1e-9


def test_no_readings_have_no_steps() -> None:
    nothing = DrawnReadings(np.zeros(0, np.intp), np.zeros(0), np.zeros(0))
    assert nothing.quantised(np.random.default_rng(0)).z_m.size == 0

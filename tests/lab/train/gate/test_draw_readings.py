"""Readings for the learned gate: as many wrong as asked for, wrong in the way that is meant."""

from dataclasses import replace

import numpy as np
import pytest

from mrac.lab.train.gate.draw_readings import FAMILIES, draw, with_fault
from mrac.lab.train.gate.frames import GateFrame

H, W = 96, 128


def frame(scan: bool = False) -> GateFrame:
    """A wall four metres away with a box in front of it; the relative field is the truth's logarithm."""
    z_m = np.full((H, W), 4.0)
    z_m[:, :8] = 0.0
    z_m[30:70, 40:80] = 2.0
    image = np.dstack([(50 * z_m).astype(np.uint8)] * 3)
    field = np.log(np.where(z_m > 0, z_m, 4.0)).astype(np.float32)
    past = np.where((np.arange(H * W) % 7 == 0).reshape(H, W), 2.0 * z_m, z_m)
    return GateFrame(image, z_m, np.flatnonzero(z_m > 0), field, past if scan else None, 10.0)


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


def test_a_fault_moves_a_part_of_the_field_and_leaves_the_rest() -> None:
    moved = []
    for seed in range(20):
        change = with_fault(frame(), np.random.default_rng(seed)) - frame().field
        assert 0.1 < np.abs(change).max() <= 1.0 + 1e-6
        assert (np.abs(change) < 1e-3).mean() > 0.2
        moved.append(change.sum())
    assert min(moved) < 0.0 < max(moved)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mrac.io.picture import (
    DEPTH_STOPS,
    KEPT,
    REJECTED,
    depth_colours,
    depth_limits,
    draw_anchors,
    draw_scale,
    error_colours,
    metric_ticks,
    verdict_colour,
)


def test_near_is_brighter_than_far_all_the_way() -> None:
    depth_m = np.geomspace(0.5, 10, 200)[None]
    light = depth_colours(depth_m, (0.5, 10.0)).astype(float).sum(axis=2)[0]
    assert (np.diff(light) <= 2).all()
    assert light[0] > 600
    assert light[-1] < 100


def test_unknown_is_grey() -> None:
    assert depth_colours(np.array([[np.nan]]), (1.0, 2.0)).tolist() == [[[96, 96, 96]]]
    assert error_colours(np.array([[np.nan]]), 0.5).tolist() == [[[96, 96, 96]]]


def test_a_flat_scene_has_limits() -> None:
    low, high = depth_limits(np.full((4, 4), 2.0))
    assert low < high


def test_rejected_anchors_are_red_and_those_outside_are_skipped() -> None:
    picture = Image.new("RGB", (200, 200))
    draw_anchors(
        picture, np.array([[50.0, 50.0], [150.0, 150.0], [999.0, 0.0], [np.nan, 3.0]]), np.array([True, False] * 2)
    )
    pixels = np.asarray(picture).astype(int)
    assert pixels[50, 50, 0] > 200
    assert pixels[50, 50, 1] < 100
    assert (pixels[140:160, 140:160].min(axis=2) > 200).any()


@pytest.mark.parametrize(
    ("keep", "reason", "colour"),
    [
        (True, "nearer_than_fit", KEPT),
        (False, "nearer_than_neighbours", REJECTED),
        (False, "sensor_status_4", verdict_colour(False, "occluded")),
    ],
)
def test_a_colour_follows_from_the_verdict(keep: bool, reason: str, colour: str) -> None:
    assert verdict_colour(keep, reason) == colour


def test_crosses_have_the_colour_of_their_reason() -> None:
    picture = Image.new("RGB", (200, 200))
    uv_px = np.array([[50.0, 50.0], [150.0, 150.0]])
    draw_anchors(picture, uv_px, np.array([True, True]), 1.0, np.array(["nearer_than_fit", "farther_than_fit"]))
    red, blue = picture.getpixel((50, 50)), picture.getpixel((150, 150))
    assert isinstance(red, tuple)
    assert isinstance(blue, tuple)
    assert red[0] > red[2] + 100
    assert blue[2] > blue[0] + 100


def test_thousands_of_anchors_leave_the_picture_visible() -> None:
    picture = Image.new("RGB", (640, 480))
    uv_px = np.random.default_rng(0).uniform(0, (640, 480), (5000, 2))
    draw_anchors(picture, uv_px, np.zeros(5000, np.bool_))
    covered = (np.asarray(picture).max(axis=2) > 0).mean()
    assert 0.01 < covered < 0.5


@given(st.floats(1e-3, 1e4), st.floats(1.01, 1e5))
def test_ticks_are_round_distinct_and_within_the_limits(low: float, ratio: float) -> None:
    limits = (low, low * ratio)
    ticks = metric_ticks(limits)
    values = [value for value, _ in ticks]
    assert len(ticks) >= 2
    assert len({text for _, text in ticks}) == len(ticks)
    assert values == sorted(values)
    assert limits[0] * (1 - 1e-6) <= values[0]
    assert values[-1] <= limits[1] * (1 + 1e-6)
    assert all(abs(float(text) - value) <= 1e-5 * value for value, text in ticks)


@given(st.floats(1e-2, 1e2), st.floats(1.01, 1e4), st.integers(120, 900))
def test_labels_stay_within_the_scale_and_apart(low: float, ratio: float, width: int) -> None:
    page = Image.new("RGB", (width + 40, 60), "white")
    draw_scale(page, (20, 5, width, 10), (low, low * ratio), DEPTH_STOPS, 13)
    dark = np.asarray(page.convert("L")) < 128
    assert not dark[:, :19].any()
    assert not dark[:, width + 21 :].any()
    assert dark[21:].any()

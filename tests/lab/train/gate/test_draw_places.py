"""Where training readings lie: in a sensor's pattern, at pixels that have a truth, and over the whole image else."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mrac.lab.train.gate import draw_places
from mrac.lab.train.gate.draw_places import _PATTERNS, _beams, _range, _region, _texture, choose_pixels
from mrac.lab.train.gate.frames import GateFrame
from tests.lab.train.gate.made_frame import H, W, frame, ramp, sparse

LEAST = 12


@pytest.mark.parametrize("made", [frame, ramp, sparse])
@pytest.mark.parametrize("pattern", list(dict.fromkeys(_PATTERNS)))
def test_every_pattern_stays_within_the_pixels_that_have_a_truth(
    pattern: Callable[[GateFrame, np.random.Generator], object],
    made: Callable[[], GateFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(draw_places, "_WHOLE", 0.0)
    monkeypatch.setattr(draw_places, "_PATTERNS", (pattern,))
    whole, sizes = made(), []
    for seed in range(20):
        chosen = choose_pixels(whole, np.random.default_rng(seed))
        assert np.isin(chosen, whole.pixels).all()
        assert np.unique(chosen).size == chosen.size >= LEAST
        np.testing.assert_array_equal(chosen, choose_pixels(whole, np.random.default_rng(seed)))
        sizes.append(chosen.size)
    assert min(sizes) < whole.pixels.size or (pattern, made) == (_range, frame), "a wall has one depth only"


def test_a_row_is_a_whole_row() -> None:
    counts, made = set(), frame()
    for seed in range(40):
        v, u = np.unravel_index(made.pixels[_beams(made, np.random.default_rng(seed))], (H, W))
        rows = np.unique(v)
        counts.add(rows.size)
        for row in rows:
            np.testing.assert_array_equal(u[v == row], np.arange(8, W))
    assert counts == {1, 2, 4, 16}


def test_of_a_sparse_truth_a_row_is_a_few_rows_around_one_that_was_measured() -> None:
    made, counts = sparse(), []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        chosen = _beams(made, rng)
        v, _ = np.unravel_index(made.pixels, (H, W))
        rows = np.unique(v[chosen])
        if rows.max() - rows.min() <= 6:  # one beam
            assert chosen.sum() == ((v >= rows.min()) & (v <= rows.max())).sum()
            counts.append(int(chosen.sum()))
    assert len(counts) > 10
    assert np.mean(counts) > 2 * made.pixels.size / H


def test_a_region_is_a_rectangle_with_all_that_was_measured_in_it() -> None:
    made, sizes, corners = frame(), [], 0
    v, u = np.unravel_index(made.pixels, (H, W))
    for seed in range(60):
        chosen = _region(made, np.random.default_rng(seed))
        (top, bottom), (left, right) = ((int(at[chosen].min()), int(at[chosen].max())) for at in (v, u))
        np.testing.assert_array_equal(chosen, (v >= top) & (v <= bottom) & (u >= left) & (u <= right))
        sizes.append(chosen.mean())
        corners += (top == 0 or bottom == H - 1) and (left == 8 or right == W - 1) and chosen.mean() < 0.5
    assert min(sizes) < 0.12
    assert corners >= 5


def test_a_short_range_leaves_what_is_near() -> None:
    made = ramp()
    for seed in range(20):
        chosen = _range(made, np.random.default_rng(seed))
        z_m = made.z_m.ravel()[made.pixels]
        assert z_m[chosen].max() < z_m[~chosen].min()
        assert 0.24 < chosen.mean() < 0.81


def test_features_lie_where_the_image_has_texture() -> None:
    image = np.full((H, W, 3), 100, np.uint8)
    image[:, W // 2 :] = np.random.default_rng(0).integers(0, 255, (H, W // 2, 3), np.uint8)
    made = replace(ramp(), image=image)
    for seed in range(20):
        chosen = _texture(made, np.random.default_rng(seed))
        _, u = np.unravel_index(made.pixels[chosen], (H, W))
        assert 0.02 < chosen.mean() < 0.31
        assert (u >= W // 2 - 3).mean() > 0.99


def test_a_pattern_that_leaves_too_few_gives_way_to_the_whole_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_places, "_WHOLE", 0.0)
    few = ramp().within(np.arange(0, H, 8)[:LEAST] * W + np.arange(LEAST))  # no two within a beam
    assert few.pixels.size == LEAST
    narrow = 0
    for seed in range(40):
        np.testing.assert_array_equal(choose_pixels(few, np.random.default_rng(seed)), few.pixels)
        narrow += _beams(few, np.random.default_rng(seed)).sum() < LEAST
    assert narrow > 10


def test_about_half_of_the_scenes_are_read_all_over_the_image() -> None:
    made = ramp()
    whole = [choose_pixels(made, np.random.default_rng(seed)).size == made.pixels.size for seed in range(300)]
    assert 0.45 < np.mean(whole) < 0.68

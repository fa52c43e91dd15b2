"""The second camera's view: shifted by the disparity, the nearer in front, and disturbed by chance alone."""

import numpy as np
import pytest

from mrac.lab.train.synthetic.stereo.second_view import disturbed_pair, second_view

H, W = 40, 90


@pytest.fixture
def picture() -> np.ndarray:
    return np.random.default_rng(0).uniform(0.0, 255.0, (H, W)).astype(np.float32)


def test_a_flat_scene_is_the_shifted_image(picture: np.ndarray) -> None:
    view = second_view(np.full((H, W), 7.0))
    assert np.array_equal(view.of(picture)[:, : W - 7], picture[:, 7:])
    assert not view.hidden[:, : W - 7].any()
    assert view.hidden[:, W - 7 :].all()


def test_fractions_of_a_pixel_lie_between_two(picture: np.ndarray) -> None:
    view = second_view(np.full((H, W), 7.25))
    between = 0.75 * picture[:, 7:-1] + 0.25 * picture[:, 8:]
    assert np.allclose(view.of(picture)[:, : W - 8], between, atol=1e-2)


@pytest.mark.parametrize("slope", [-0.3, 0.3])
def test_a_slanted_plane_has_no_holes_and_the_right_place(slope: float) -> None:
    u = np.arange(W)
    view = second_view(np.tile(20.0 + slope * (u - W / 2), (H, 1)))
    # A point at column u is seen at r = u − d(u).
    r = np.arange(10, W - 50)
    expected = (r + 20.0 - slope * W / 2) / (1.0 - slope)
    inside = (expected > 0) & (expected < W - 1)
    assert inside.sum() > 15
    assert not view.hidden[:, r[inside]].any()
    assert np.allclose(view.source[:, r[inside]], expected[inside], atol=1e-3)


def test_nearer_surfaces_hide_farther_ones(picture: np.ndarray) -> None:
    disparity = np.full((H, W), 3.0)
    disparity[:, 40:60] = 15.0
    view = second_view(disparity)
    seen = view.of(picture)
    assert np.array_equal(seen[:, 25:45], picture[:, 40:60])  # the box, in front of what lay there
    assert np.array_equal(seen[:, :25], picture[:, 3:28])
    assert np.array_equal(seen[:, 57:-3], picture[:, 60:])
    assert view.hidden[:, 45:57].all()  # only the second camera sees behind the box
    assert view.hidden[:, :-3].sum() == 12 * H
    assert (view.source[:, 45:57] >= 60.0).all()  # and finds more background there, none of the box


def test_disturbed_views_are_repeated_by_their_seed_and_show_the_picture(picture: np.ndarray) -> None:
    disparity = np.full((H, W), 5.0)
    one, two = (disturbed_pair(picture, disparity, np.random.default_rng(3)) for _ in range(2))
    other = disturbed_pair(picture, disparity, np.random.default_rng(4))
    for a, b, c in zip(one, two, other, strict=True):
        assert np.array_equal(a, b)
        assert not np.array_equal(a, c)
        assert a.shape == (H, W)
        assert 0.0 <= a.min() <= a.max() <= 255.0
    assert np.corrcoef(one[0].ravel(), picture.ravel())[0, 1] > 0.7
    assert np.corrcoef(one[1][:, :-5].ravel(), picture[:, 5:].ravel())[0, 1] > 0.3


def test_faint_detail_does_not_move_with_the_surface() -> None:
    """Else noise of the picture would tell the disparity of a blank wall."""
    wall = 120.0 + np.random.default_rng(0).normal(0.0, 1.0, (H, W))
    left, right = disturbed_pair(wall, np.full((H, W), 5.0), np.random.default_rng(5))
    rough = [x - x.mean(axis=1, keepdims=True) for x in (left[:, 10:-10], right[:, 5:-15])]
    assert np.corrcoef(np.diff(rough[0]).ravel(), np.diff(rough[1]).ravel())[0, 1] < 0.2

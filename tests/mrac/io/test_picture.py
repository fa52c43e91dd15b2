import numpy as np
from PIL import Image

from mrac.io.picture import depth_colours, depth_limits, draw_anchors, error_colours, preview


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


def test_preview_has_a_footer_and_enlarges_small_images() -> None:
    depth_m = np.linspace(1, 2, 12).reshape(3, 4)
    picture = preview(depth_m, np.array([[1.0, 1.0]]), np.array([True]), "ok")
    assert picture.size == (640, 480 + 40)


def test_preview_of_a_large_image_is_shrunk_with_its_anchors() -> None:
    depth_m = np.ones((3000, 4000), np.float32)
    picture = preview(depth_m, np.array([[3900.0, 2900.0]]), np.array([False]), "ok")
    assert picture.size == (2048, 1536 + 40)
    pixels = np.asarray(picture).astype(int)
    red = (pixels[..., 0] > 200) & (pixels[..., 1] < 100)
    v, u = np.nonzero(red[:1536])
    assert max(abs(u.mean() - 3900.5 * 0.512), abs(v.mean() - 2900.5 * 0.512)) < 2.0


def test_preview_of_a_thread_has_at_least_a_pixel_of_it() -> None:
    assert preview(np.ones((1, 9000)), np.zeros((0, 2)), np.zeros(0, np.bool_), "ok").size == (2048, 1 + 40)

"""Bands of features against whole maps of them; upsampling; features without an image."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from mrac.gp.cells import fill_band, fill_readings, scale_into
from mrac.gp.features import ImageAppearance, LengthScales, PixelFeatures, appearance, features_without_image
from mrac.gp.kernel import FARTHEST, WeightedProcessOptions
from mrac.gp.upsampling import upsample_row
from mrac.relative import resize_field, sample_bilinear
from tests.conftest import MadeScene

LENGTHS = LengthScales(position=1.6, region=0.8, relative=0.5, colour=4.0)


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (60, 80), (200, 131)])
def test_bands_are_the_maps_enlarged_as_a_whole(shape: tuple[int, int], make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene(1, shape)
    H, W = shape
    uv_px = np.random.default_rng(0).uniform(-0.5, 0.49, (30, 2)) + np.random.default_rng(1).integers(
        0, (W, H), (30, 2)
    )
    features = PixelFeatures(ImageAppearance(made.image), made.relative.values, LENGTHS)
    whole = features.band(0, H)
    parts = np.concatenate([features.band(*rows) for rows in features.split(0, H, 3 * W)], axis=1)
    np.testing.assert_array_equal(parts, whole)

    colour, regions = appearance(made.image)
    cells = np.concatenate([colour / LENGTHS.colour, regions / LENGTHS.region])
    maps = np.stack([resize_field(cell, shape) for cell in cells])
    np.testing.assert_allclose(whole[2:7].reshape(5, H, W), maps, rtol=1e-6, atol=1e-6)
    at_anchors = np.stack([sample_bilinear(field, uv_px) for field in maps], axis=1)
    np.testing.assert_allclose(features.at(uv_px, None)[:, 2:7], at_anchors, rtol=1e-6, atol=1e-6)


def test_a_few_cells_are_read_bilinearly_at_nodes_and_readings() -> None:
    cells, shape, step = np.random.default_rng(0).normal(size=(5, 3, 4)).astype(np.float32), (11, 14), 3
    maps = np.stack([resize_field(cell, shape) for cell in cells])
    points = np.zeros((8, 4, 5), np.float32)
    fill_band(cells, shape, step, 0, np.float32(0.5), points)
    v, u = np.minimum(step * np.arange(4), 10), np.minimum(step * np.arange(5), 13)
    np.testing.assert_allclose(points[2:7], maps[:, v][:, :, u], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(points[0], np.tile(1.5 * np.arange(5), (4, 1)))
    np.testing.assert_array_equal(points[1], np.tile(1.5 * np.arange(4)[:, None], (1, 5)))

    scaled = np.zeros((3, 5), np.float32)
    scale_into(maps[0], step, 1, 0.5, 2.0, scaled)
    np.testing.assert_allclose(scaled, 2.0 * (maps[0][v[1:]][:, u] - 0.5), rtol=1e-6)

    uv_px = np.array([[0.0, 0.0], [4.3, 5.6], [6.5, 0.4], [13.0, 10.0], [-0.4, 7.2], [13.4, 10.4]])
    readings = np.zeros((6, 8), np.float32)
    fill_readings(cells, shape, uv_px, readings)
    wanted = np.stack([sample_bilinear(field, uv_px) for field in maps], axis=1)
    np.testing.assert_allclose(readings[:, 2:7], wanted, rtol=1e-5, atol=1e-6)


def test_bands_cover_every_row_once(make_scene: Callable[..., MadeScene]) -> None:
    made = make_scene(1, (700, 400))
    features = PixelFeatures(ImageAppearance(made.image), made.relative.values, LENGTHS)
    rows = [row for top, bottom in features.bands() for row in range(top, bottom)]
    assert rows == list(range(700))
    assert len(features.bands()) > 2


def upsampled(nodes: NDArray[np.float32], step: int, shape: tuple[int, int]) -> NDArray[np.float32]:
    out, between = np.empty(shape, np.float32), np.empty(nodes.shape[1] + 1, np.float32)
    for v in range(shape[0]):
        upsample_row(nodes, step, v, between, out[v])
    return out


@pytest.mark.parametrize("step", [1, 2, 3, 7, 50])
def test_gives_a_plane_back(step: int) -> None:
    H, W = 23, 41
    rows, columns = -(-(H - 1) // step) + 1, -(-(W - 1) // step) + 1
    v, u = np.mgrid[0:rows, 0:columns] * step
    nodes = (0.5 + 0.01 * u - 0.02 * v).astype(np.float32)
    v, u = np.mgrid[0:H, 0:W]
    whole = 0.5 + 0.01 * u - 0.02 * v
    np.testing.assert_allclose(upsampled(nodes, step, (H, W)), whole, atol=1e-6)


def test_one_node_serves_an_image() -> None:
    np.testing.assert_array_equal(upsampled(np.full((1, 1), 2.0, np.float32), 9, (7, 9)), np.full((7, 9), 2.0))


def test_a_plain_image_says_no_more() -> None:
    H, W = 90, 90
    relative = np.linspace(0.0, 1.0, H * W, dtype=np.float32).reshape(H, W)
    uv_px = np.array([[0.0, 0.0], [89.0, 89.0], [10.0, 70.0], [44.0, 3.0]])
    x = relative[uv_px[:, 1].astype(int), uv_px[:, 0].astype(int)].astype(np.float64)
    lengths = LengthScales(region=1e6)  # where nothing has an edge, regions are positions again
    low, high = np.percentile(relative[::4, ::4], [2.0, 98.0])
    seen = PixelFeatures(ImageAppearance(np.full((H, W, 3), 90, np.uint8)), relative, lengths).at(uv_px, x)
    known = features_without_image(uv_px, x, (float(low), float(high)), lengths)
    for k in range(4):
        for j in range(4):
            expected = np.linalg.norm(seen[k] - seen[j])
            np.testing.assert_allclose(np.linalg.norm(known[k] - known[j]), expected, rtol=0.02, atol=1e-3)


def test_without_relative_depth_and_on_one_spot() -> None:
    found = features_without_image(np.zeros((3, 2)), None, (0.0, 0.0), LengthScales())
    np.testing.assert_array_equal(found, 0.0)
    assert np.isfinite(features_without_image(np.zeros((3, 2)), np.ones(3), (1.0, 1.0), LengthScales())).all()


def test_readings_on_a_line_span_a_third_of_the_side() -> None:
    """The area that they span is 0, but the image is not that thin."""
    row = np.stack([np.linspace(0.0, 100.0, 5), np.full(5, 7.0)], axis=1)
    found = features_without_image(row, None, (0.0, 0.0), LengthScales())
    np.testing.assert_allclose(found[:, :2], row / (LengthScales().position * 30.0))


def test_relative_depth_far_outside_its_range_is_bounded_on_both_sides() -> None:
    field = np.array([[-1e30, 0.5, 1e30]])
    out = np.empty((1, 3), np.float32)
    scale_into(field, 1, 0, 0.0, 2.0, out)
    np.testing.assert_array_equal(out, np.array([[-FARTHEST, 1.0, FARTHEST]], np.float32))


def test_a_stated_deviation_adds_its_square() -> None:
    options = WeightedProcessOptions()
    weight, stated = np.array([1.0, 0.5]), np.array([0.1, 0.3])
    more = options.noise_var(weight, stated) - options.noise_var(weight)
    np.testing.assert_allclose(more, stated**2 / weight)
    np.testing.assert_allclose(options.noise_var(weight, stated, 0.5) - options.noise_var(weight), 4 * more)

"""Readings of a regular grid: what a grid is, and when its readings are taken for means over its cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrac import Anchors, Calibrator, RelativeDepth
from mrac.conventions import FloatArray
from mrac.relative import sample_areas
from mrac.space import Space
from mrac.zone_grid import find_grid, sample_readings

SHAPE = (120, 160)


def centres(columns: int, rows: int, shape: tuple[int, int] = SHAPE) -> FloatArray:
    """(columns · rows, 2) centres of a grid over the whole image."""
    u = (np.arange(columns) + 0.5) * shape[1] / columns - 0.5
    v = (np.arange(rows) + 0.5) * shape[0] / rows - 0.5
    return np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)


def scene(seed: int = 0) -> FloatArray:
    """(120, 160) log depth with boxes before a floor, so that a cell's mean is not the value at its centre."""
    chance = np.random.default_rng(seed)
    log_depth = np.broadcast_to(np.linspace(1.6, 0.4, SHAPE[0])[:, None], SHAPE).copy()
    for _ in range(14):
        v, u = chance.integers(0, (100, 135))
        log_depth[v : v + 24, u : u + 18] -= chance.uniform(0.3, 0.8)
    return log_depth


@pytest.mark.parametrize(("columns", "rows"), [(8, 8), (4, 4), (3, 5), (16, 12)])
def test_the_centres_of_a_grid_over_the_image_are_found(columns: int, rows: int) -> None:
    grid = find_grid(centres(columns, rows), SHAPE)
    assert grid is not None
    np.testing.assert_allclose(grid.cell_px, [160 / columns, 120 / rows])


@settings(max_examples=60, deadline=None)
@given(
    num=st.integers(4, 10),
    first=st.tuples(st.floats(5.0, 15.0), st.floats(5.0, 15.0)),
    seed=st.integers(0, 99),
)
def test_a_grid_over_a_part_is_found_in_any_order_and_with_cells_missing(
    num: int, first: tuple[float, float], seed: int
) -> None:
    step = np.array([13.7, 10.3])
    number = np.stack(np.meshgrid(np.arange(num), np.arange(num)), axis=-1).reshape(-1, 2)
    chance = np.random.default_rng(seed)
    number = chance.permutation(number)[: round(0.9 * num * num)]
    grid = find_grid(np.array(first) + number * step, SHAPE)
    assert grid is not None
    np.testing.assert_allclose(grid.cell_px, step, rtol=1e-6)
    np.testing.assert_allclose(grid.centre_px, np.array(first) + number * step, atol=1e-4)


def test_positions_rounded_to_pixels_are_still_a_grid() -> None:
    grid = find_grid(np.round(centres(7, 7)), SHAPE)
    assert grid is not None
    np.testing.assert_allclose(grid.cell_px, [160 / 7, 120 / 7], rtol=0.02)


def _square(side: int) -> FloatArray:
    return np.stack(np.meshgrid(np.arange(float(side)), np.arange(float(side))), axis=-1).reshape(-1, 2)


NO_GRIDS = {
    "one row": np.stack([np.linspace(2.0, 157.0, 50), np.full(50, 60.0)], axis=1),
    "every pixel": _square(30),
    "two in a cell": np.concatenate([centres(4, 4), centres(4, 4) + 0.3]),
    "too few": centres(3, 3)[:7],
    "a small part, in a wide image": 40.0 + 9.0 * _square(8) * (0.15, 1.0),
}


@pytest.mark.parametrize("name", NO_GRIDS)
def test_other_readings_are_no_grid_of_zones(name: str) -> None:
    assert find_grid(NO_GRIDS[name], SHAPE) is None


@pytest.mark.parametrize("seed", range(5))
def test_neither_are_beams_nor_readings_anywhere(seed: int) -> None:
    chance = np.random.default_rng(seed)
    beams = np.stack([chance.integers(0, 160, 64), chance.choice([15, 45, 75, 105], 64)], axis=1).astype(float)
    assert find_grid(beams, SHAPE) is None
    assert find_grid(chance.integers(0, (160, 120), (64, 2)).astype(float), SHAPE) is None


def test_a_column_without_readings_does_not_widen_the_cells() -> None:
    uv_px = np.stack(np.meshgrid([110.0, 210.0, 410.0], [60.0, 160.0, 260.0, 360.0]), axis=-1).reshape(-1, 2)
    grid = find_grid(uv_px, (480, 640))
    assert grid is not None
    np.testing.assert_allclose(grid.cell_px, [100.0, 100.0])


def test_readings_beside_their_centres_have_the_mean_of_their_cell() -> None:
    field, uv_px = scene(), centres(8, 8)
    areas = np.tile([20.0, 15.0], (64, 1))
    means = sample_areas(field, uv_px, areas, "log_depth")
    moved = uv_px.copy()
    moved[::4] += (5.0, -4.0)
    found = sample_readings(field, Anchors(moved, np.exp(means)), "log_depth")
    assert found.finding is not None
    np.testing.assert_allclose(found.x, means, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_means_are_used_as_means_and_points_as_points(seed: int, unit: float) -> None:
    field, uv_px = scene(seed), centres(8, 8)
    areas = np.tile([20.0, 15.0], (64, 1))
    means = sample_areas(field, uv_px, areas, "log_depth")
    found = sample_readings(field, Anchors(uv_px, unit * np.exp(means)), "log_depth")
    assert found.finding is not None
    assert found.finding.name == "zones"
    assert "20×15 px" in found.finding.message
    np.testing.assert_allclose(found.x, means)
    np.testing.assert_array_equal(found.extent_px, areas)
    points = sample_areas(field, uv_px, None, "log_depth")
    found = sample_readings(field, Anchors(uv_px, unit * np.exp(points)), "log_depth")
    assert found.finding is None
    assert found.extent_px is None
    np.testing.assert_array_equal(found.x, points)


@pytest.mark.parametrize("space", ["depth", "inverse_depth"])
def test_in_the_other_spaces_too(space: Space) -> None:
    uv_px, areas = centres(8, 8), np.tile([20.0, 15.0], (64, 1))
    for seed in range(4):
        depth = np.exp(scene(seed))
        field = depth if space == "depth" else 1.0 / depth
        for extent_px, zones in ((areas, True), (None, False)):
            x = sample_areas(field, uv_px, extent_px, space)
            found = sample_readings(field, Anchors(uv_px, x if space == "depth" else 1.0 / x), space)
            assert (found.finding is not None) == zones


def test_what_is_stated_holds() -> None:
    field, uv_px = scene(), centres(8, 8)
    z_m = np.exp(sample_areas(field, uv_px, np.tile([20.0, 15.0], (64, 1)), "log_depth"))
    for stated in (np.zeros((64, 2)), np.tile([6.0, 6.0], (64, 1))):
        found = sample_readings(field, Anchors(uv_px, z_m, extent_px=stated), "log_depth")
        assert found.finding is None
        assert found.extent_px is not None
        np.testing.assert_array_equal(found.extent_px, stated)
        np.testing.assert_array_equal(found.x, sample_areas(field, uv_px, stated, "log_depth"))


def test_a_wrong_reading_in_four_does_not_hide_the_zones() -> None:
    field, uv_px = scene(), centres(8, 8)
    z_m = np.exp(sample_areas(field, uv_px, np.tile([20.0, 15.0], (64, 1)), "log_depth"))
    z_m[::4] *= np.random.default_rng(0).uniform(0.2, 0.6, 16)
    found = sample_readings(field, Anchors(uv_px, z_m), "log_depth")
    assert found.finding is not None


def test_a_field_that_says_nothing_leaves_points() -> None:
    chance, uv_px = np.random.default_rng(0), centres(8, 8)
    guessed = []
    for _ in range(20):
        noise = 0.6 * chance.normal(size=SHAPE)
        for z_m in (chance.uniform(1.0, 5.0, 64), np.exp(1.6 - uv_px[:, 1] / 100.0)):
            guessed.append(sample_readings(noise, Anchors(uv_px, z_m), "log_depth").finding is not None)
    assert np.mean(guessed) < 0.15
    assert sample_readings(np.ones(SHAPE), Anchors(uv_px, z_m), "log_depth").finding is None


def test_where_relative_depth_is_set_aside_so_are_the_zones() -> None:
    chance, uv_px = np.random.default_rng(3), centres(8, 8)
    field = scene()
    z_m = np.exp(sample_areas(field, uv_px, None, "log_depth"))
    image = np.full((*SHAPE, 3), 127, np.uint8)
    image[..., 0] = np.arange(160)
    seen = 0
    for _ in range(12):
        noise = RelativeDepth((1.5 * chance.normal(size=SHAPE)).astype(np.float32), "log_depth")
        out = Calibrator()(image, Anchors(uv_px, z_m), noise)
        if out.status == "foundation_disagrees":
            without = Calibrator(foundation="none")(image, Anchors(uv_px, z_m))
            np.testing.assert_array_equal(out.depth_m, without.depth_m)
            assert not out.warnings
            seen += 1
    assert seen > 3


def test_a_call_says_that_it_took_them_for_zones_and_is_as_if_they_had_been_stated() -> None:
    field, uv_px = scene(), centres(8, 8)
    areas = np.tile([20.0, 15.0], (64, 1))
    z_m = np.exp(sample_areas(field, uv_px, areas, "log_depth"))
    relative = RelativeDepth(field.astype(np.float32), "log_depth")
    image = np.full((*SHAPE, 3), 127, np.uint8)
    calibrator = Calibrator()
    given = calibrator(image, Anchors(uv_px, z_m), relative)
    assert [finding.name for finding in given.warnings] == ["zones"]
    stated = calibrator(image, Anchors(uv_px, z_m, extent_px=areas), relative)
    assert not stated.warnings
    np.testing.assert_array_equal(given.depth_m, stated.depth_m)

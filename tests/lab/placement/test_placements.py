import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mrac import ContractError
from mrac.lab.placement.beams import Beams
from mrac.lab.placement.farthest_point import FarthestPoint
from mrac.lab.placement.features import Features, corner_strength
from mrac.lab.placement.random import Random
from mrac.lab.placement.range_limited import RangeLimited
from mrac.lab.placement.region import Region
from mrac.lab.placement.stratified import Stratified
from mrac.lab.placement.uncertainty_active import UncertaintyActive
from mrac.lab.placement.zones import Zones


def test_random_draws_as_the_first_published_results_did() -> None:
    valid = np.random.default_rng(0).random((40, 50)) < 0.4
    uv = Random()(valid, 25, np.random.default_rng([123, 0]))
    v, u = np.nonzero(valid)
    chosen = np.random.default_rng([123, 0]).choice(v.size, 25, replace=False)
    np.testing.assert_array_equal(uv, np.stack([u[chosen], v[chosen]], axis=1))


@pytest.mark.parametrize("density", [1.0, 0.1])
def test_farthest_points_are_the_farthest(density: float) -> None:
    rng = np.random.default_rng(2)
    valid = rng.random((31, 47)) < density
    uv = FarthestPoint()(valid, 60, rng)
    v, u = np.nonzero(valid)
    pixels = np.stack([u, v], axis=1)
    for k in range(1, len(uv)):
        nearest = cdist(pixels, uv[:k]).min(axis=1)
        chosen = (pixels == uv[k]).all(axis=1)
        assert nearest[chosen] == nearest.max()
        assert np.flatnonzero(chosen) == nearest.argmax()  # of equals, the first


def test_stratified_visits_every_cell_before_any_twice() -> None:
    valid = np.ones((60, 80), np.bool_)
    uv = Stratified()(valid, 48, np.random.default_rng(0))
    cells = uv // 10
    assert len(np.unique(cells, axis=0)) == 48
    inside = uv % 10
    assert 3 < inside.mean() < 6
    assert inside.std() > 2  # anywhere in the cell, not at its centre
    twice = Stratified()(valid, 100, np.random.default_rng(0))
    assert len(twice) == 100


def test_stratified_loses_no_anchor_to_the_sky() -> None:
    valid = np.zeros((60, 80), np.bool_)
    valid[30:] = True
    valid[40:50, :40] = False
    uv = Stratified()(valid, 24, np.random.default_rng(1))
    assert len(uv) == 24
    counts = np.histogram2d(uv[:, 1], uv[:, 0], bins=[[30, 45, 60], [0, 40, 80]])[0]
    assert counts.min() >= 3


def test_uncertainty_takes_the_largest() -> None:
    rng = np.random.default_rng(3)
    sigma = rng.random((20, 30))
    sigma[0, 0], sigma[0, 1], sigma[0, 2] = np.nan, np.inf, 5.0
    valid = rng.random(sigma.shape) < 0.8
    valid[0, :3] = True
    uv = UncertaintyActive()(valid, 12, rng, sigma)
    taken = sigma[uv[:, 1], uv[:, 0]]
    assert taken[:2].tolist() == [np.inf, 5.0]
    rest = sigma[valid & np.isfinite(sigma)]
    np.testing.assert_array_equal(taken[1:], np.sort(rest)[::-1][:11])
    everything = UncertaintyActive()(valid, 10_000, rng, sigma)
    assert everything[-1].tolist() == [0, 0]


def test_equally_uncertain_pixels_come_in_random_order() -> None:
    uv = UncertaintyActive()(np.ones((30, 40), np.bool_), 50, np.random.default_rng(0), np.ones((30, 40)))
    assert np.ptp(uv, axis=0).min() > 20


def test_uncertainty_is_asked_for() -> None:
    with pytest.raises(ContractError, match="no uncertainty arrived"):
        UncertaintyActive()(np.ones((3, 4), np.bool_), 2, np.random.default_rng(0))


@pytest.mark.parametrize(("num", "rows"), [(1, {30}), (4, {7, 22, 37, 52})])
def test_beams_are_rows_that_divide_the_image(num: int, rows: set[int]) -> None:
    uv = Beams(num)(np.ones((60, 80), np.bool_), 50, np.random.default_rng(0))
    assert set(uv[:, 1]) == rows
    assert np.ptp(uv[:, 0]) > 60, "along the whole row"


def test_a_beam_with_too_few_pixels_goes_on_in_the_rows_beside_it() -> None:
    valid = np.zeros((60, 80), np.bool_)
    valid[20:41, ::8] = True
    uv = Beams(1)(valid, 25, np.random.default_rng(0))
    assert (uv[:, 1] == 30).sum() == 10
    assert set(uv[:, 1]) == {29, 30, 31}


def test_a_region_holds_all_where_it_can_and_what_is_nearest_where_it_cannot() -> None:
    valid = np.ones((60, 80), np.bool_)
    uv = Region(right=0.3, bottom=0.3)(valid, 50, np.random.default_rng(0))
    assert uv.max(axis=0).tolist() <= [23, 17]
    assert (Region(left=0.5, right=1.0, bottom=1.0)(valid, 50, np.random.default_rng(0))[:, 0] >= 40).all()
    valid[:20, :30] = False
    outside = Region(right=0.3, bottom=0.3)(valid, 5, np.random.default_rng(0))
    assert np.hypot(np.maximum(outside[:, 0] - 23, 0), np.maximum(outside[:, 1] - 17, 0)).max() < 4


@pytest.mark.parametrize("sides", [{"left": 0.5, "right": 0.5}, {"top": 0.9}, {"right": 1.5}])
def test_an_empty_or_impossible_region_is_refused(sides: dict[str, float]) -> None:
    with pytest.raises(ContractError):
        Region(**sides)


def test_a_zone_reads_the_mean_of_its_field_of_view_at_its_centre() -> None:
    depth_m = np.random.default_rng(0).uniform(1.0, 5.0, (48, 64)).astype(np.float32)
    valid = np.ones(depth_m.shape, np.bool_)
    uv = Zones(4)(valid, 50, np.random.default_rng(0))
    assert len(uv) == 16, "a sensor of 16 zones has no 50 readings"
    assert {abs(u % 16 - 7.5) for u in uv[:, 0].tolist()} == {0.5}
    assert {abs(v % 12 - 5.5) for v in uv[:, 1].tolist()} == {0.5}
    means = depth_m.reshape(4, 12, 4, 16).mean(axis=(1, 3))
    np.testing.assert_allclose(Zones(4).read(depth_m, valid, uv), means[uv[:, 1] // 12, uv[:, 0] // 16], rtol=1e-6)
    assert len(Zones(4)(valid, 5, np.random.default_rng(0))) == 5


def test_a_zone_averages_what_is_measured_and_says_nothing_where_next_to_nothing_is() -> None:
    depth_m = np.full((40, 40), np.nan)
    depth_m[:20, :20] = 2.0
    depth_m[0:10, 0:20] = 4.0
    depth_m[5, 5] = np.nan  # a hole
    depth_m[20, 20] = 9.0  # all that is measured of the last zone
    valid = np.isfinite(depth_m)
    uv = Zones(2)(valid, 50, np.random.default_rng(0))
    assert len(uv) == 1
    assert Zones(2).read(depth_m, valid, uv) == pytest.approx((199 * 4.0 + 200 * 2.0) / 399)


def test_the_centre_of_a_zone_that_is_a_hole_moves_to_the_nearest_pixel_beside_it() -> None:
    valid = np.ones((20, 20), np.bool_)
    valid[8:12, 7:] = False
    (uv,) = Zones(1)(valid, 1, np.random.default_rng(0)).tolist()
    assert uv in ([9, 7], [10, 7], [9, 12], [10, 12])


def test_features_are_corners_and_none_lies_on_a_plain_wall_or_a_straight_edge() -> None:
    image = np.full((60, 90, 3), 128, np.uint8)
    squares = [(u, v) for u in (50, 62, 74) for v in (10, 25, 40)]
    for u, v in squares:
        image[v : v + 6, u : u + 6] = 255
    corners = np.array([(u + a, v + b) for u, v in squares for a in (0, 5) for b in (0, 5)])
    uv = Features()(np.ones((60, 90), np.bool_), 20, np.random.default_rng(0), image=image)
    assert cdist(uv, corners).min(axis=1).max() <= 2.0
    edge = np.zeros((30, 30, 3), np.uint8)
    edge[:, 15:] = 255
    assert corner_strength(edge)[5:-5].max() <= 1e-3 * corner_strength(image).max()


def test_features_draw_among_the_strongest() -> None:
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (120, 160, 3), np.uint8)
    image[:, 80:] = 128 + image[:, 80:] // 32  # hardly any contrast
    valid = np.ones((120, 160), np.bool_)
    draws = [Features()(valid, 20, np.random.default_rng(seed), image=image) for seed in (0, 1)]
    assert max(uv[:, 0].max() for uv in draws) < 82
    assert not np.array_equal(np.sort(draws[0], axis=0), np.sort(draws[1], axis=0))
    strongest = [Features(excess=1.0)(valid, 20, np.random.default_rng(seed), image=image) for seed in (0, 1)]
    assert {tuple(uv) for uv in strongest[0].tolist()} == {tuple(uv) for uv in strongest[1].tolist()}


def test_a_short_range_sees_the_nearer_part() -> None:
    rng = np.random.default_rng(0)
    depth_m, valid = rng.uniform(1.0, 10.0, (40, 50)), rng.random((40, 50)) < 0.7
    uv = RangeLimited(0.3)(valid, 100, rng, depth_m=depth_m)
    read = depth_m[uv[:, 1], uv[:, 0]]
    limit = np.quantile(depth_m[valid], 0.3)
    assert read.max() <= limit
    assert np.ptp(read) > 0.8 * (limit - 1.0), "any of them, not the nearest"
    few = RangeLimited(0.0)(valid, 30, rng, depth_m=depth_m)
    np.testing.assert_array_equal(np.sort(depth_m[few[:, 1], few[:, 0]]), np.sort(depth_m[valid])[:30])


def test_what_a_placement_needs_is_asked_for() -> None:
    valid = np.ones((4, 5), np.bool_)
    with pytest.raises(ContractError, match="no image arrived"):
        Features()(valid, 2, np.random.default_rng(0))
    with pytest.raises(ContractError, match="no depth arrived"):
        RangeLimited()(valid, 2, np.random.default_rng(0))

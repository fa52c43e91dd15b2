import numpy as np
import pytest

from mrac.gp.areas import area_points, area_posterior
from mrac.gp.kernel import NUM_FEATURES, PRIOR_VAR
from mrac.gp.posterior import Observations, posterior, predict


def drawn(num: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(num, NUM_FEATURES)).astype(np.float32)


def predicted(post: object, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean, explained = np.empty((2, len(at)), np.float32)
    predict(np.ascontiguousarray(at.T), 0, len(at), post, mean, explained)  # type: ignore[arg-type]
    return mean, explained


def test_points_lie_inside_the_area_and_the_image_and_a_point_stays() -> None:
    points = area_points(np.array([[2.0, 3.0], [9.0, 5.0], [4.25, 1.5]]), np.array([[4, 2], [6, 2], [0, 0]]), (8, 10))
    assert points.start.tolist() == [0, 25, 50]
    np.testing.assert_allclose(points.uv_px[:25].mean(axis=0), [2.0, 3.0])
    assert (np.abs(points.uv_px[:25] - [2.0, 3.0]) < [2.0, 1.0]).all()
    assert points.uv_px[25:50, 0].max() < 9.5  # clipped at the border
    np.testing.assert_allclose(points.uv_px[25:50].mean(axis=0), [7.75, 5.0])
    np.testing.assert_array_equal(points.uv_px[50], [4.25, 1.5])


def test_an_area_ends_at_each_border() -> None:
    """Of an image of 10 by 8 pixels: from -0.5 to 9.5 and to 7.5, five points at the middles of fifths."""
    points = area_points(np.array([[1.0, 7.0], [9.0, 0.0]]), np.array([[4.0, 4.0], [4.0, 0.0]]), (8, 10)).uv_px
    fifths = (np.arange(5) + 0.5) / 5
    np.testing.assert_allclose(np.unique(points[:25, 0].round(9)), -0.5 + 3.5 * fifths)
    np.testing.assert_allclose(np.unique(points[:25, 1].round(9)), 5.0 + 2.5 * fifths)
    np.testing.assert_allclose(np.unique(points[25:, 0].round(9)), 7.0 + 2.5 * fifths)
    np.testing.assert_allclose(points[25:, 1], 0.0, atol=1e-12)
    np.testing.assert_allclose(points[:5, 1], points[0, 1])


@pytest.mark.parametrize("num", [1, 64, 65, 256, 5000])
def test_the_number_of_points_is_bounded(num: int) -> None:
    points = area_points(np.full((num, 2), 4.0), np.ones((num, 2)), (8, 8))
    assert num <= len(points.uv_px) <= max(1600, num)


def test_shares_are_those_of_a_mean_of_depth() -> None:
    points = area_points(np.array([[4.0, 4.0], [1.0, 1.0]]), np.array([[3.0, 3.0], [0.0, 0.0]]), (8, 8))
    trend = 0.2 * np.random.default_rng(1).normal(size=26)
    mean, share = points.means(trend)
    np.testing.assert_allclose(mean, [np.log(np.exp(trend[:25]).mean()), trend[25]])
    np.testing.assert_allclose(share[:25], np.exp(trend[:25]) / np.exp(trend[:25]).sum())
    step = 1e-6 * np.random.default_rng(2).normal(size=26)  # the shares are the derivative of the log of the mean
    np.testing.assert_allclose(points.means(trend + step)[0][0] - mean[0], (share * step)[:25].sum(), rtol=1e-4)


def test_sky_gives_no_echo() -> None:
    points = area_points(np.array([[4.0, 4.0]]), np.array([[3.0, 3.0]]), (8, 8))
    trend = np.where(np.arange(25) < 15, 1.0, 5.0)
    mean, share = points.means(trend)
    np.testing.assert_allclose(mean, [1.0])
    np.testing.assert_allclose(share[:15], 1 / 15)
    assert not share[15:].any()


def test_areas_of_one_point_give_the_posterior_of_points() -> None:
    features, noise, residuals = drawn(6), np.full(6, 0.1), np.random.default_rng(3).normal(size=6)
    points = area_points(np.zeros((6, 2)), np.zeros((6, 2)), (4, 4))
    areas, area_length = area_posterior(features, points, np.ones(6), noise, residuals)
    plain, length = posterior(Observations(features, noise, residuals))
    at = drawn(40, seed=4)
    for a, b in zip(predicted(areas, at), predicted(plain, at), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-5)
    np.testing.assert_allclose(area_length, length)
    assert areas.whitener.shape == (6, 6)


def test_the_mean_over_an_area_is_what_was_read() -> None:
    """Nearly without noise, the posterior's mean over each area is its residual, and no value is known as well."""
    uv, extent = np.array([[5.0, 5.0], [20.0, 5.0], [12.0, 20.0]]), np.array([[6.0, 6.0], [6.0, 4.0], [0.0, 0.0]])
    points = area_points(uv, extent, (30, 30))
    features = np.zeros((len(points.uv_px), NUM_FEATURES), np.float32)
    features[:, :2] = points.uv_px / 10.0
    _, share = points.means(np.linspace(0.0, 1.0, len(features)))
    residuals = np.array([0.3, -0.2, 0.1])
    post, _ = area_posterior(features, points, share, np.full(3, 1e-6), residuals)
    assert post.whitener.shape == (4, 51)  # rows come in pairs
    mean, explained = predicted(post, features)
    np.testing.assert_allclose(np.add.reduceat(mean * share, points.start), residuals, atol=1e-3)
    assert explained[:50].max() < PRIOR_VAR - 1e-3  # within an area something is left unknown
    np.testing.assert_allclose(explained[50], PRIOR_VAR, atol=1e-3)

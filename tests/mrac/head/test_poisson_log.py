import numpy as np
import pytest

from mrac.head.poisson_log import PoissonLog
from tests.mrac.head.scenes import scene

FIELD = 0.3 + np.random.default_rng(0).random((40, 60))
PIXELS = np.random.default_rng(1).permutation([[u, v] for u in range(4, 60, 8) for v in range(4, 40, 8)])


def test_one_anchor_scales_the_fit() -> None:
    made = scene(FIELD, [[10, 10]], [3.0], line=(0.5, 0.1))
    fit_m = 1.0 / (0.5 * FIELD + 0.1)
    np.testing.assert_allclose(PoissonLog()(made).depth_m, fit_m * (3.0 / fit_m[10, 10]), rtol=1e-4)


def test_a_correction_that_changes_over_the_image_is_followed_and_edges_stay() -> None:
    truth = np.exp(0.5 * np.arange(60) / 60) / (0.5 * FIELD + 0.1)
    made = scene(FIELD, PIXELS, truth[PIXELS[:, 1], PIXELS[:, 0]], line=(0.5, 0.1))
    log_error = np.abs(np.log(PoissonLog(edge=1e6)(made).depth_m / truth))[4:-4, 8:-8]
    assert log_error.max() < 0.05
    assert np.abs(np.log((1.0 / (0.5 * FIELD + 0.1)) / truth)).max() > 0.45


def test_a_correction_stops_at_an_edge_of_the_fit() -> None:
    """Left is one surface, right another, ten times as far; the left one's anchor contradicts the fit."""
    field = np.full((40, 60), 1.0)
    field[:, 30:] = 0.1
    made = scene(field, [[5, 20], [55, 20]], [1.5, 10.0], line=(1.0, 0.0))
    depth_m = PoissonLog()(made).depth_m
    assert depth_m[20, 24] == pytest.approx(1.5, rel=0.05)
    assert depth_m[20, 36] == pytest.approx(10.0, rel=0.05)


def test_anchors_alone_are_a_membrane() -> None:
    result = PoissonLog()(scene(None, PIXELS, np.full(len(PIXELS), 4.0), "log_depth"))
    np.testing.assert_allclose(result.depth_m, 4.0, rtol=1e-4)

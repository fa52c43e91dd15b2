"""Outliers of the page: the benchmark's families, with a window for edges that fits sparse readings."""

import numpy as np
import pytest

from mrac import registry
from mrac.errors import ContractError
from mrac.outliers import Truth
from mrac.web.catalogue import FAMILIES
from mrac.web.corruption import corrupt, max_range_m
from mrac.web.examples import load_example


@pytest.fixture(scope="module")
def truth() -> Truth:
    pool = load_example("room").pool
    assert pool is not None
    some = pool.anchors.take(np.random.default_rng(7).choice(len(pool.anchors), 60, replace=False))
    return Truth(uv_px=some.uv_px, z_m=some.z_m, truth_m=pool.depth_m, max_range_m=max_range_m(pool.depth_m))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_the_page_draws_what_the_benchmark_draws(truth: Truth, family: str, share: float) -> None:
    theirs = registry.create("outlier", family)(truth, share, np.random.default_rng(3))
    ours = corrupt(truth, family, share, np.random.default_rng(3))
    np.testing.assert_array_equal(ours.wrong, theirs.wrong)
    np.testing.assert_array_equal(ours.z_m, theirs.z_m)


def test_among_sparse_readings_an_edge_is_looked_for_farther_away() -> None:
    near_and_far = np.full((200, 200), np.nan)
    near_and_far[100, 80], near_and_far[100, 110] = 1.0, 5.0  # 30 px apart: outside of 31 px around either
    uv_px = np.array([[80.0, 100.0], [110.0, 100.0], [np.nan, 3.0]])
    sparse = Truth(uv_px=uv_px, z_m=np.array([1.0, 5.0, 2.0]), truth_m=near_and_far, max_range_m=10.0)
    mixed = corrupt(sparse, "mixed_pixel", 0.7, np.random.default_rng(0))
    assert mixed.wrong.tolist() == [True, True, False]
    assert ((mixed.z_m[:2] > 1.0) & (mixed.z_m[:2] < 5.0)).all()


@pytest.mark.parametrize(("family", "share"), [("gaussian", 0.1), ("near:low=0", 0.1), ("near", 1.5), ("near", -0.1)])
def test_another_family_or_share_is_refused(truth: Truth, family: str, share: float) -> None:
    with pytest.raises(ContractError, match=r"near|fraction"):
        corrupt(truth, family, share, np.random.default_rng(0))

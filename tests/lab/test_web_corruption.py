"""The page's families of outliers are the laboratory's, number by number."""

import numpy as np
import pytest

from mrac import registry
from mrac.lab.outliers import Truth
from mrac.web import corruption
from mrac.web.catalogue import FAMILIES
from mrac.web.examples import load_example


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_the_page_draws_what_the_benchmark_draws(family: str, share: float) -> None:
    pool = load_example("room").pool
    assert pool is not None
    some = pool.anchors.take(np.random.default_rng(7).choice(len(pool.anchors), 60, replace=False))
    max_range_m = corruption.max_range_m(pool.depth_m)
    truth = Truth(uv_px=some.uv_px, z_m=some.z_m, truth_m=pool.depth_m, max_range_m=max_range_m)
    theirs = registry.create("outlier", family)(truth, share, np.random.default_rng(3))
    ours = corruption.corrupt(
        corruption.Truth(some.uv_px, some.z_m, pool.depth_m), family, share, np.random.default_rng(3)
    )
    assert np.array_equal(ours.wrong, theirs.wrong)
    assert np.array_equal(ours.z_m, theirs.z_m)

"""The densities are densities, and know the directions in which sensors err."""

import numpy as np
import pytest

from mrac.gate.consensus.outlier_densities import KINDS, Densities


def test_each_kind_integrates_to_one() -> None:
    z_m = np.full(20001, 2.0)
    z_m[0] = 4.0
    residual = np.linspace(-4, 4, 20001)
    kinds = Densities(z_m, np.zeros(z_m.size, np.bool_))(residual[None])[0]
    step = residual[1] - residual[0]
    for name in ("near", "far", "anywhere"):
        assert kinds[KINDS.index(name)].sum() * step == pytest.approx(1.0, abs=0.02)


def test_directions() -> None:
    densities = Densities(np.array([1.0, 2.0, 3.0]), np.zeros(3, np.bool_))(
        np.array([[np.log(0.4), 0.0, np.log(2.0)]])
    )[0]
    near, far = densities[KINDS.index("near")], densities[KINDS.index("far")]
    assert near[0] > 100 * near[2]
    assert far[2] > 100 * far[0]
    assert max(near[1], far[1]) < 0.01, "where the others say the reading is, it is no error of either kind"


def test_a_sentinel_needs_a_value_that_repeats() -> None:
    z_m = np.array([1.0, 10.0, 10.0])
    assert len(Densities(z_m, z_m == 10.0)(np.zeros((1, 3)))[0]) == len(KINDS)
    assert len(Densities(z_m, z_m > 99.0)(np.zeros((1, 3)))[0]) == len(KINDS) - 1

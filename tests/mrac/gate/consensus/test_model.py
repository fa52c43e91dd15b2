"""The mixture model: leave-one-out residuals against leaving out by hand, dense clusters, outlier densities."""

import numpy as np
import pytest

from mrac.conventions import BoolArray, FloatArray
from mrac.gate.consensus.model import KINDS, MixtureModel, MixtureOptions, dense_clusters, leave_cluster_out
from mrac.gp.kernel import covariance


def model_of(z_m: FloatArray, repeated: BoolArray) -> MixtureModel:
    options = MixtureOptions()
    features, trends = np.zeros((z_m.size, 8)), np.zeros((1, z_m.size))
    return MixtureModel(np.log(z_m), trends, features, repeated, options, options.amplitude)


def places(num: int = 40, seed: int = 0) -> FloatArray:
    """Readings spread over an image of 4 : 3, in length scales."""
    return np.random.default_rng(seed).uniform(0, (4 / 3 / 1.6, 1 / 1.6), (num, 2))


def with_cluster() -> FloatArray:
    spread = places()
    spread[:10] = [0.4, 0.3] + 0.02 * np.random.default_rng(1).normal(size=(10, 2))
    return spread


def test_even_readings_are_no_cluster() -> None:
    counts = [len(dense_clusters(places(seed=seed))) for seed in range(20)]
    assert np.mean(counts) < 2, "of 40"
    assert dense_clusters(places(num=3)) == []


def test_a_dense_cluster_is_found() -> None:
    found = dict(dense_clusters(with_cluster()))
    assert set(range(10)) <= set(found)
    assert all(i in members for i, members in found.items())
    assert {0, 1, 2, 3, 4, 5, 6, 7, 8, 9} <= set(found[0].tolist())


@pytest.mark.parametrize("clustered", [False, True])
def test_closed_form_is_conditioning_on_the_rest(clustered: bool) -> None:
    rng = np.random.default_rng(2)
    spread = with_cluster()
    left_out = dense_clusters(spread) if clustered else []
    total = covariance(spread) + np.diag(rng.uniform(0.05, 0.3, len(spread)))
    error = rng.normal(size=len(spread))
    residual, var = leave_cluster_out(total[None].copy(), error[None], left_out)
    members = dict(left_out)
    for i in range(len(spread)):
        rest = np.setdiff1d(np.arange(len(spread)), members.get(i, [i]))
        gain = np.linalg.solve(total[np.ix_(rest, rest)], total[rest, i])
        np.testing.assert_allclose(residual[0, i], error[i] - gain @ error[rest], atol=1e-9)
        np.testing.assert_allclose(var[0, i], total[i, i] - gain @ total[rest, i], atol=1e-9)


def test_each_kind_integrates_to_one() -> None:
    model = model_of(np.array([2.0, 4.0]), np.zeros(2, np.bool_))
    residual = np.linspace(-4, 4, 20001)
    kinds = model.outlier_densities(np.repeat(residual[:, None], 2, axis=1))[:, :, 0]
    step = residual[1] - residual[0]
    for name in ("near", "far", "anywhere"):
        assert kinds[:, KINDS.index(name)].sum() * step == pytest.approx(1.0, abs=0.02)


def test_directions() -> None:
    model = model_of(np.array([1.0, 2.0, 3.0]), np.zeros(3, np.bool_))
    densities = model.outlier_densities(np.array([[np.log(0.4), 0.0, np.log(2.0)]]))[0]
    near, far = densities[KINDS.index("near")], densities[KINDS.index("far")]
    assert near[0] > 100 * near[2]
    assert far[2] > 100 * far[0]
    assert max(near[1], far[1]) < 0.01, "at the predicted depth there is no error of either kind"


def test_a_sentinel_needs_a_value_that_repeats() -> None:
    z_m = np.array([1.0, 10.0, 10.0])
    assert model_of(z_m, z_m == 10.0).outlier_densities(np.zeros((1, 3))).shape == (1, len(KINDS), 3)
    assert model_of(z_m, z_m > 99.0).outlier_densities(np.zeros((1, 3))).shape == (1, len(KINDS) - 1, 3)

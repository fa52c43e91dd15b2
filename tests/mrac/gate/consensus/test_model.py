"""The mixture model: leave-one-out residuals against leaving out by hand, dense clusters, outlier densities."""

import numpy as np
import pytest

from mrac.conventions import BoolArray, FloatArray
from mrac.gate.consensus.em import left_one_out, outlier_densities
from mrac.gate.consensus.model import KINDS, MixtureModel, MixtureOptions, dense_clusters
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


def members_of(positions: FloatArray) -> dict[int, set[int]]:
    start, members = dense_clusters(positions)
    parts = np.split(members, start[1:-1]) if start.size > 1 else []
    return {int(part[0]): set(part.tolist()) for part in parts}


def test_even_readings_are_no_cluster() -> None:
    counts = [len(members_of(places(seed=seed))) for seed in range(20)]
    assert np.mean(counts) < 2, "of 40"
    assert members_of(places(num=3)) == {}


def test_a_dense_cluster_is_found() -> None:
    found = members_of(with_cluster())
    assert set(range(10)) <= set(found)
    assert all(i in members for i, members in found.items())
    assert set(range(10)) <= found[0]


def test_a_reading_in_a_cluster_is_given_those_outside_it() -> None:
    rng = np.random.default_rng(2)
    spread, options = with_cluster(), MixtureOptions()
    K, members = len(spread), members_of(spread)
    features = np.zeros((K, 8))
    features[:, :2] = spread
    trend, log_z, inlier = rng.normal(size=K), rng.normal(size=K), rng.uniform(0.1, 1.0, K)
    model = MixtureModel(log_z, trend[None], features, np.zeros(K, np.bool_), options, 0.2)
    residual, var = np.empty((2, K))
    left_one_out(model.problem, 0, 0.3, inlier, residual, var)

    contrast, noise_var = trend - trend.mean(), (0.3 * options.noise) ** 2
    total = 0.3**2 * covariance(features) + 1.5**2 + options.slope_std**2 * np.outer(contrast, contrast)
    total += np.diag(noise_var / inlier)
    for i in range(K):
        rest = np.setdiff1d(np.arange(K), list(members.get(i, {i})))
        gain = np.linalg.solve(total[np.ix_(rest, rest)], total[rest, i])
        np.testing.assert_allclose(residual[i], model.error[0, i] - gain @ model.error[0, rest], atol=1e-9)
        expected = total[i, i] - gain @ total[rest, i] - noise_var / inlier[i] + noise_var
        np.testing.assert_allclose(var[i], expected, atol=1e-9)


def densities(model: MixtureModel, residual: FloatArray) -> FloatArray:
    """(C, K) of the kinds of outliers."""
    found = np.empty((residual.size, model.kind_counts.size))
    for i, each in enumerate(residual.tolist()):
        outlier_densities(model.problem, i % model.log_z.size, each, found[i])
    return found.T


def test_each_kind_integrates_to_one() -> None:
    model = model_of(np.array([2.0, 4.0]), np.zeros(2, np.bool_))
    residual = np.linspace(-4, 4, 20001)
    kinds = densities(model, residual)
    step = residual[1] - residual[0]
    for name in ("near", "far", "anywhere"):
        assert kinds[KINDS.index(name)].sum() * step == pytest.approx(1.0, abs=0.02)


def test_directions() -> None:
    model = model_of(np.array([1.0, 2.0, 3.0]), np.zeros(3, np.bool_))
    found = densities(model, np.log([0.4, 1.0, 2.0]))
    near, far = found[KINDS.index("near")], found[KINDS.index("far")]
    assert near[0] > 100 * near[2]
    assert far[2] > 100 * far[0]
    assert max(near[1], far[1]) < 0.01, "at the predicted depth there is no error of either kind"


def test_a_sentinel_needs_a_value_that_repeats() -> None:
    z_m = np.array([1.0, 10.0, 10.0])
    assert densities(model_of(z_m, z_m == 10.0), np.zeros(3))[4].tolist() == [1e-3, 20.0, 20.0]
    assert densities(model_of(z_m, z_m > 99.0), np.zeros(3)).shape == (len(KINDS) - 1, 3)

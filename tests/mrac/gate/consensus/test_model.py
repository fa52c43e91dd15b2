"""The mixture model: leave-one-out residuals against leaving out by hand, dense clusters, outlier densities."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from mrac.conventions import BoolArray, FloatArray
from mrac.gate.consensus.em import left_one_out, outlier_densities
from mrac.gate.consensus.model import (
    KINDS,
    Judgement,
    MixtureModel,
    MixtureOptions,
    State,
    dense_clusters,
    reasons,
    repeated_values,
)
from mrac.gp.kernel import covariance


def model_of(z_m: FloatArray, repeated: BoolArray) -> MixtureModel:
    options = MixtureOptions()
    features, trends = np.zeros((z_m.size, 8)), np.zeros((1, z_m.size))
    return MixtureModel(np.log(z_m), trends, features, repeated, options, options.amplitude)


def test_errors_are_around_their_median() -> None:
    rng = np.random.default_rng(0)
    log_z, trends, options = rng.normal(size=7), rng.normal(3.0, 1.0, (2, 7)), MixtureOptions()
    model = MixtureModel(log_z, trends, np.zeros((7, 8)), np.zeros(7, bool), options, options.amplitude)
    np.testing.assert_allclose(np.median(model.error, axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.diff(model.error), np.diff(log_z - trends))


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


def test_each_is_the_first_of_its_cluster_where_several_share_a_place() -> None:
    spread = places()
    spread[:10] = [0.4, 0.3]
    start, members = dense_clusters(spread)
    assert members[start[:-1]].tolist() == sorted(members_of(spread))
    assert set(range(10)) <= set(members[start[:-1]].tolist())


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


def test_the_limits_of_each_kind() -> None:
    """Near: 0.15 to 0.8 of the prediction; far: 1.2 to 6 times; anywhere: 2.5 to either side in log depth."""
    model = model_of(np.array([2.0, 4.0, 4.0]), np.array([False, True, True]))
    ratios = np.array([0.149, 0.151, 0.799, 0.801, 1.199, 1.201, 5.99, 6.01])
    near, far, _, anywhere, _ = densities(model, np.log(ratios))
    inside = np.array([0, 1, 1, 0, 0, 0, 0, 0], bool)
    np.testing.assert_allclose(near, np.where(inside, 1.0 / np.log(0.8 / 0.15), 1e-3))
    np.testing.assert_allclose(far, np.where(inside[[4, 4, 4, 4, 4, 1, 1, 4]], 1.0 / np.log(6.0 / 1.2), 1e-3))
    np.testing.assert_allclose(anywhere, 0.2)
    beyond = densities(model, np.array([-2.51, 2.51, 0.0]))
    np.testing.assert_allclose(beyond[KINDS.index("anywhere")], [1e-3, 1e-3, 0.2])
    np.testing.assert_allclose(beyond[KINDS.index("range")], np.array([2.0, 4.0, 4.0]) / 2.0)
    np.testing.assert_allclose(beyond[KINDS.index("sentinel")], [1e-3, 20.0, 20.0])
    alike = densities(model_of(np.full(3, 5.0), np.zeros(3, bool)), np.zeros(3))
    np.testing.assert_allclose(alike[KINDS.index("range")], 1e3)


@pytest.mark.parametrize(("num", "count", "suspect"), [(10, 3, False), (10, 4, True), (100, 5, False), (100, 6, True)])
def test_how_often_a_value_must_repeat(num: int, count: int, suspect: bool) -> None:
    z_m = np.linspace(1.0, 2.0, num)
    z_m[:count] = 10.0 + 1e-5 * np.arange(count)  # equal to a tenth of a millimetre
    assert repeated_values(z_m).tolist() == [suspect] * count + [False] * (num - count)


def test_a_value_that_repeats_on_a_wall_is_no_sentinel() -> None:
    """A sensor that rounds to millimetres repeats each value of a wall; a sentinel stands alone among other values."""
    wall_m = 0.7 + 0.001 * (np.arange(48) // 8)
    assert not repeated_values(wall_m).any()
    with_sentinel_m = np.r_[wall_m, np.full(12, 4.0)]
    assert repeated_values(with_sentinel_m).tolist() == [False] * 48 + [True] * 12
    # Twice as many others near it; 3 % is near.
    for factor, suspect in ((1.029, False), (1.031, True), (0.971, False), (0.969, True)):
        others_m = 2.0 * factor + 0.0002 * np.arange(10)
        assert repeated_values(np.r_[np.full(5, 2.0), others_m])[:5].all() == suspect
        assert repeated_values(np.r_[np.full(5, 2.0), others_m[:9]])[:5].all()


def test_how_dense_a_cluster_must_be() -> None:
    """More than twice what even spacing gives, and two more: over an area of 1, of 15 readings, 2 · 0.42 + 2."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    grid = np.stack(np.meshgrid([0.2, 0.4, 0.6, 0.8], [0.25, 0.75]), axis=-1).reshape(-1, 2)
    for together, found in ((2, 0), (3, 3), (6, 6)):
        bunch = np.array([0.5, 0.5]) + 0.01 * np.arange(together)[:, None]
        apart = np.concatenate([corners, grid[: 14 - together]])
        clusters = members_of(np.concatenate([bunch, apart]))
        assert clusters == {i: set(range(together)) for i in range(found)}
    many = np.concatenate([corners, 0.5 + 0.0001 * np.arange(40)[:, None] * np.ones(2)])
    assert {len(members) for members in members_of(many).values()} == {16}


def em_by_hand(
    model: MixtureModel, state: State, features: FloatArray, trend: FloatArray, rounds: int
) -> dict[str, Any]:
    """One hypothesis, reading by reading, with numpy's solver and scipy's Student-t."""
    options, K = model.options, trend.size
    amplitude, inlier, temperature = float(state.amplitude[0]), state.inlier[0].copy(), float(state.temperature[0])
    share, kinds, counts = float(state.share[0]), state.kinds[0].copy(), model.kind_counts
    contrast = trend - trend.mean()
    smooth = amplitude**2 * covariance(features) + 2.25 + options.slope_std**2 * np.outer(contrast, contrast)
    for _ in range(rounds):
        noise = (options.noise * amplitude) ** 2
        weighted = noise / np.maximum(inlier, 1e-3)
        total, residual, var = smooth + np.diag(weighted), np.empty(K), np.empty(K)
        for k in range(K):
            rest = np.arange(K) != k
            gain = np.linalg.solve(total[np.ix_(rest, rest)], total[rest, k])
            residual[k] = model.error[0, k] - gain @ model.error[0, rest]
            var[k] = max(total[k, k] - gain @ total[rest, k] - weighted[k], 1e-6) + noise
        scale = np.sqrt(var * temperature * (options.dof - 2) / options.dof)
        right = share * stats.t.pdf(residual, options.dof, scale=scale)
        wrong = kinds[:, None] * densities(model, residual)
        density = right + (1 - share) * wrong.sum(axis=0)
        inlier = right / density
        count = (wrong / wrong.sum(axis=0) * (1 - inlier)).sum(axis=1)
        kinds = (count + counts) / (count.sum() + counts.sum())
        share = (inlier.sum() + options.prior_inliers) / (K + options.prior_inliers + options.prior_outliers)
        temperature = max(1.0, 0.7 * temperature)
    prior = options.prior_inliers * np.log(share) + options.prior_outliers * np.log(1 - share) + counts @ np.log(kinds)
    prior += options.majority_penalty * min(share - options.majority, 0.0)
    return {
        "inlier": inlier, "temperature": temperature, "share": share, "kinds": kinds, "residual": residual, "var": var,
        "evidence": np.log(density).sum() + prior, "densities": wrong,
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [2, 7])
@pytest.mark.parametrize("rounds", [1, 3])
def test_em_is_what_it_is_by_hand(wrong: int, rounds: int) -> None:
    rng = np.random.default_rng(wrong)
    features, trend = rng.normal(size=(11, 8)), rng.normal(size=11)
    log_z = trend + 0.1 * rng.normal(size=11) + np.where(np.arange(11) < wrong, rng.uniform(-1.5, 1.5, 11), 0.0)
    repeated = np.arange(11) < 4
    model = MixtureModel(log_z, np.stack([0.0 * trend, trend]), features, repeated, MixtureOptions(), 0.3)
    counts = np.array([2.0, 1.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(model.kind_counts, counts)
    state = State(
        np.array([0.3]), rng.uniform(0.2, 1.0, (1, 11)), np.array([4.0]), np.array([0.7]), counts[None] / counts.sum()
    )
    found = model.em(state, np.array([1]), rounds)
    shifted = MixtureModel(log_z, trend[None], features, repeated, MixtureOptions(), 0.3)
    wanted = em_by_hand(shifted, state, features, trend, rounds)
    for name in ("inlier", "temperature", "share", "kinds"):
        np.testing.assert_allclose(getattr(found.state, name)[0], wanted[name], rtol=1e-7, err_msg=name)
    np.testing.assert_allclose(found.residual[0], wanted["residual"], atol=1e-9)
    np.testing.assert_allclose(found.var[0], wanted["var"], rtol=1e-7)
    np.testing.assert_allclose(found.kinds[0], wanted["densities"], rtol=1e-6)
    np.testing.assert_allclose(found.evidence[0], wanted["evidence"], rtol=1e-9)


def test_evidence_without_outliers() -> None:
    rng = np.random.default_rng(3)
    features, trend = rng.normal(size=(6, 8)), rng.normal(size=6)
    options = MixtureOptions()
    model = MixtureModel(trend + 0.1 * rng.normal(size=6), trend[None], features, np.zeros(6, bool), options, 0.3)
    state = State(np.array([0.3]), np.ones((1, 6)), np.ones(1), np.array([0.5]), np.full((1, 4), 0.25))
    hand = em_by_hand(model, state, features, trend, 1)
    residual, var = hand["residual"], hand["var"]
    each = stats.t.logpdf(residual, 5.0, scale=np.sqrt(var * 0.6)).sum()
    counts = np.array([2.0, 1.0, 1.0, 1.0])
    prior = 14 * np.log(14 / 16) + 2 * np.log(2 / 16) + counts @ np.log(counts / 5.0)
    found = model.evidence_without_outliers(np.array([0]), np.array([0.3]))
    np.testing.assert_allclose(found, each + prior)


def test_reasons() -> None:
    judged = Judgement(
        inlier=np.zeros(5),
        residual=np.array([-1.0, 1.0, -1.0, 1.0, 0.0]),
        std=np.ones(5),
        explained=np.array([0.9, 0.5, 0.4, 0.1, 0.9]),
        kind=np.array([0, 1, 4, 2, 3]),
    )
    keep = np.array([False, False, False, False, True])
    near, far = "nearer_than_neighbours", "farther_than_neighbours"
    alone = [near, far, "repeated_value", far, "consistent"]
    assert reasons(keep, judged, False).tolist() == alone
    told = [near, far, "repeated_value", "contradicts_relative_depth", "consistent"]
    assert reasons(keep, judged, True).tolist() == told

"""The GP-mixture gate against consistent outliers, in every space; the paper's gate is shown failing first."""

from dataclasses import replace

import numpy as np
import pytest

from mrac import Anchors, Calibrator, RelativeDepth
from mrac.gate.consensus import Consensus
from mrac.gate.consensus_learned import ConsensusLearned
from mrac.gate.theil_sen_mad import TheilSenMad
from mrac.space import SPACES, Space, to_space
from mrac.types import Samples


def scene(space: Space = "log_depth", num: int = 60, seed: int = 0) -> tuple[Samples, np.random.Generator]:
    """A slanted floor with a step in it, seen by a network whose error is smooth, and true readings of it."""
    rng = np.random.default_rng(seed)
    uv = rng.uniform(0, (640, 480), (num, 2))
    z = 1.5 + uv[:, 1] / 160 + 1.5 * (uv[:, 0] > 400)
    seen = z * np.exp(0.12 * np.sin(uv[:, 0] / 90 + seed) + 0.1 * np.cos(uv[:, 1] / 70))
    x = to_space(seen, space)
    x = x if space == "log_depth" else 3.0 * x + 0.7  # the scale and shift of such a network are unknown
    return Samples(uv, z * np.exp(0.01 * rng.normal(size=num)), x, space, True, np.ones(num)), rng


def corrupted(samples: Samples, z_m: np.ndarray, wrong: np.ndarray) -> Samples:
    values = np.where(wrong, z_m, samples.z_m)
    return Samples(samples.uv_px, values, samples.x, samples.space, samples.native, samples.weight)


def errors(samples: Samples, wrong: np.ndarray, gate: Consensus | TheilSenMad) -> tuple[int, int]:
    """Wrong readings kept and right ones lost."""
    keep = gate(samples).keep
    return int((keep & wrong).sum()), int((~keep & ~wrong).sum())


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("seed", range(4))
def test_clean_readings_are_kept(space: Space, seed: int) -> None:
    samples, _ = scene(space, seed=seed)
    result = Consensus()(samples)
    assert result.keep.mean() > 0.95
    assert result.weight.mean() > 0.9
    assert result.status == "ok"


@pytest.mark.parametrize("num", [60, 400])
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_a_network_that_the_readings_contradict_is_not_used(share: float, num: int) -> None:
    lost = 0
    for seed in range(4):
        samples, rng = scene(num=num, seed=seed)
        noise = replace(samples, x=rng.normal(size=num))
        wrong = rng.permutation(num) < share * num
        bad = corrupted(noise, samples.z_m * rng.uniform(0.2, 0.6, num), wrong)
        result = Consensus()(bad)
        assert (result.status, result.use_relative) == ("foundation_disagrees", False)
        alone = Consensus()(replace(bad, x=None, native=False))
        np.testing.assert_array_equal(result.keep, alone.keep)
        lost += int((~result.keep & ~wrong).sum())
    assert lost < 0.07 * 4 * num


@pytest.mark.parametrize("gate", [Consensus(), ConsensusLearned()])
def test_without_a_foundation_a_doubtful_reading_is_kept(gate: Consensus) -> None:
    samples, rng = scene(num=60)
    wrong = rng.permutation(60) < 15
    bad = corrupted(samples, samples.z_m * rng.uniform(0.2, 0.9, 60), wrong)
    result = gate(replace(bad, x=None, native=False))
    np.testing.assert_array_equal(result.keep, result.weight >= 0.3)
    assert (result.keep & (result.weight < 0.5)).any(), "some lie between"


def test_a_network_that_helps_is_used() -> None:
    for seed in range(4):
        samples, rng = scene(seed=seed)
        wrong = rng.permutation(60) < 24
        for one in (samples, corrupted(samples, samples.z_m * rng.uniform(0.2, 0.6, 60), wrong)):
            result = Consensus()(one)
            assert (result.status, result.use_relative) == ("ok", True)


@pytest.mark.parametrize("kind", ["near", "sentinel"])
def test_two_readings_in_five_are_wrong(kind: str) -> None:
    """Past 29 % the paper's gate may fail, and does; not on every scene, so over many."""
    paper, ours = 0, 0
    told: list[str] = []
    for space in SPACES:
        for seed in range(6):
            samples, rng = scene(space, seed=seed)
            wrong = rng.permutation(len(samples)) < 24
            near = samples.z_m * rng.uniform(0.2, 0.6, len(samples))
            bad = corrupted(samples, near if kind == "near" else np.full(len(samples), 10.0), wrong)
            paper += sum(errors(bad, wrong, TheilSenMad()))
            ours += sum(errors(bad, wrong, Consensus()))
            told.extend(Consensus()(bad).reason[wrong])
    num = len(SPACES) * 6 * 60
    assert paper > 0.1 * num, "the least-protected case must be a hard one"
    assert ours < 0.02 * num
    assert ours < 0.2 * paper
    assert told.count("nearer_than_neighbours" if kind == "near" else "repeated_value") > 0.85 * len(told)


def test_without_a_foundation_neighbours_find_outliers() -> None:
    samples, rng = scene(num=120)
    alone = Samples(samples.uv_px, samples.z_m, None, "log_depth", False, samples.weight)
    wrong = rng.permutation(len(alone)) < 12
    bad = corrupted(alone, alone.z_m * 0.25, wrong)
    assert TheilSenMad()(bad).status == "no_relative_depth"
    kept_wrong, lost_right = errors(bad, wrong, Consensus())
    assert kept_wrong <= 2
    assert lost_right <= 4


def test_many_readings_are_judged_in_groups() -> None:
    samples, rng = scene(num=3000)
    wrong = rng.permutation(len(samples)) < 900
    bad = corrupted(samples, samples.z_m * rng.uniform(0.2, 0.6, len(samples)), wrong)
    kept_wrong, lost_right = errors(bad, wrong, Consensus())
    assert kept_wrong < 60
    assert lost_right < 60


def test_weights_are_soft() -> None:
    samples, _ = scene()
    ratio = np.geomspace(0.4, 1.0, 25)
    shifted = samples.z_m.copy()
    weights = []
    for factor in ratio:
        shifted[7] = samples.z_m[7] * factor
        one = np.arange(len(samples)) == 7
        weights.append(float(Consensus()(corrupted(samples, shifted, one)).weight[7]))
    assert weights[0] < 0.05
    assert weights[-1] > 0.8
    assert any(0.1 < weight < 0.9 for weight in weights), "between inlier and outlier the weight is soft"


def test_two_readings_are_not_judged() -> None:
    samples, _ = scene(num=2)
    assert Consensus()(samples).status == "too_few_anchors"


@pytest.mark.parametrize("num_wrong", [8, 14])
def test_a_dense_cluster_of_readings_past_one_edge(num_wrong: int) -> None:
    """They agree with each other; the readings outside the cluster must decide."""
    kept = 0
    for seed in range(6):
        samples, rng = scene(seed=seed)
        uv = samples.uv_px.copy()
        uv[:num_wrong] = [300, 240] + rng.normal(size=(num_wrong, 2)) * 12
        z = 1.5 + uv[:, 1] / 160 + 1.5 * (uv[:, 0] > 400)
        x = np.log(z * np.exp(0.05 * np.sin(uv[:, 0] / 90 + seed)))
        wrong = np.arange(len(z)) < num_wrong
        behind = z * np.where(wrong, 2.5 * np.exp(0.1 * rng.normal(size=len(z))), 1.0)
        kept += errors(Samples(uv, behind, x, "log_depth", True, samples.weight), wrong, Consensus())[0]
    assert kept <= 0.2 * 6 * num_wrong


def test_features_of_the_image_count() -> None:
    """Readings on one surface of the image predict each other, however wrong the foundation is there."""
    samples, _ = scene(num=50)
    on_it = samples.uv_px[:, 0] > 400
    assert samples.x is not None
    missed = Samples(
        samples.uv_px, samples.z_m * np.where(on_it, 0.45, 1.0), samples.x, "log_depth", True, samples.weight
    )
    plain = np.zeros((50, 8))
    plain[:, :2] = samples.uv_px / (1.6 * 480)
    regions = plain.copy()
    regions[:, 5] = 3.0 * on_it  # the regions of the image separate the two surfaces
    without, with_regions = (
        (Consensus().judge_groups(missed, [np.arange(50)], one)[0].judgement.inlier[on_it] > 0.5).mean()
        for one in (plain, regions)
    )
    assert with_regions > 0.9
    assert with_regions >= without


def test_without_nearby_readings_the_reason_is_the_relative_depth() -> None:
    samples, _ = scene(num=40)
    uv = samples.uv_px / 8  # all in one corner
    uv[0] = [639, 479]
    z = 1.5 + uv[:, 1] / 160
    bad = Samples(uv, np.where(np.arange(40) == 0, 0.2 * z, z), np.log(z), "log_depth", True, samples.weight)
    assert Consensus()(bad).reason[0] == "contradicts_relative_depth"


def following_the_network(shares: tuple[float, ...], factors: tuple[float, ...], error: float, seed: int) -> Samples:
    """Readings of which the first groups are wrong by one factor each, and agree with the network better than the rest.

    The network errs smoothly; right readings do not follow it, wrong ones do.
    """
    samples, rng = scene(seed=seed)
    u, v = samples.uv_px.T
    off = error * np.sin(u / 60 + rng.uniform(0, 6)) * np.cos(v / 50 + rng.uniform(0, 6))
    x, z_m, start = np.log(samples.z_m) + off, samples.z_m.copy(), 0
    for share, factor in zip(shares, factors, strict=True):
        group = slice(start, start + round(share * len(samples)))
        z_m[group] = np.exp(x[group]) * factor
        start = group.stop
    return Samples(samples.uv_px, z_m, x, "log_depth", True, samples.weight)


def num_errors(gate: Consensus, bad: list[Samples], num_wrong: int) -> int:
    wrong = np.arange(60) < num_wrong
    return sum(sum(errors(one, wrong, gate)) for one in bad)


def test_a_consistent_minority_does_not_win() -> None:
    """A third of the readings agree with the network exactly, at a third of the depth: the majority still decides."""
    bad = [following_the_network((0.35,), (0.35,), 0.24, seed) for seed in range(16)]
    assert num_errors(Consensus(majority_penalty=0.0), bad, 21) > 90, "without the penalty the minority wins on some"
    assert num_errors(Consensus(), bad, 21) < 30


def test_several_starts_are_needed() -> None:
    """Two groups of outliers, each consistent: the guess with most votes alone often is one of them."""
    bad = [following_the_network((0.22, 0.22), (0.4, 0.6), 0.4, seed) for seed in range(2, 9)]
    # Relative depth is used whatever the readings say: the comparison of models is tested elsewhere.
    gates = Consensus(min_evidence=-1e6, max_starts=1), Consensus(min_evidence=-1e6)
    single, several = (num_errors(gate, bad, 26) for gate in gates)
    assert several < 0.6 * single


def test_the_prior_of_the_share_of_inliers_is_weak() -> None:
    """It counts for ten readings: with a hundred, 45 % of mild outliers would be taken for inliers."""
    kept = {1: 0, 10: 0}
    for seed in range(8):
        samples, rng = scene(seed=seed)
        wrong = rng.permutation(60) < 27
        bad = corrupted(samples, samples.z_m * rng.uniform(0.55, 0.85, 60), wrong)
        for times in kept:
            gate = Consensus(prior_inliers=8.0 * times, prior_outliers=2.0 * times, min_evidence=-1e6)
            kept[times] += errors(bad, wrong, gate)[0]
    assert kept[1] < 0.8 * kept[10]


@pytest.mark.parametrize("size", [1e15, 1e30, 3e38])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("method", ["default", "mrac"])
def test_a_field_of_absurd_numbers_and_readings_that_touch_give_a_safe_answer(
    method: str, space: str, size: float
) -> None:
    """Around a median of 1e30 the mean of equal numbers is off by 1e14, which made the covariance singular."""
    rng = np.random.default_rng(2)
    image = rng.integers(0, 255, (24, 30, 3), dtype=np.uint8)
    corner = rng.integers(2, 20, (7, 2)) + 0.5
    uv = (corner[:, None] + 1e-9 * np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]])).reshape(-1, 2)
    for field in (rng.choice([-size, size], (24, 30)), np.where(rng.random((24, 30)) < 0.8, size, 0.0)):
        out = Calibrator(method)(image, Anchors(uv, rng.uniform(1.0, 5.0, 28)), RelativeDepth(field, space))
        assert np.isfinite(out.depth_m).all()
        assert out.depth_m.min() > 0.0
        assert np.isfinite(out.sigma_m).all()
        if method == "default":
            assert 0.1 < out.depth_m.min() <= out.depth_m.max() < 100.0

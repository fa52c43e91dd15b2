"""Averages over hypotheses, written out number by number."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mrac.conventions import FloatArray
from mrac.gate.consensus import (
    FACTORS,
    Consensus,
    Hypothesis,
    average_hypotheses,
    divided,
    in_order,
)
from mrac.gate.consensus.initialisation import Starts, search
from mrac.gate.consensus.model import Judgement, MixtureModel, MixtureOptions, State
from mrac.gate.consensus.reading_points import features_alone, image_features
from mrac.gate.consensus_learned import ConsensusLearned
from mrac.gp.features import ImageAppearance, LengthScales, PixelFeatures
from mrac.relative import without_relative
from tests.mrac.gate.test_consensus import corrupted, scene


def model_and_starts(single: bool) -> tuple[MixtureModel, Starts]:
    rng = np.random.default_rng(7)
    trend, K = rng.normal(size=14), 14
    log_z = trend + 0.1 * rng.normal(size=K)
    log_z[:6] -= 0.9
    starts = Starts.single(trend, log_z, 0.0) if single else Starts.of(trend[None], log_z, 8)
    features = rng.normal(size=(K, 8))
    return MixtureModel(log_z, starts.trends, features, np.zeros(K, bool), MixtureOptions(), 0.3), starts


@pytest.mark.parametrize("single", [True, False])
def test_averages_are_by_evidence(single: bool) -> None:
    model, starts = model_and_starts(single)
    factors = (0.5, 1.0, 2.0)
    judged, best = average_hypotheses(model, starts, factors)

    state, start, carried = search(model, starts)
    assert carried.size == (1 if single else 3)
    some: list[tuple[float, float, int, float, FloatArray]] = []  # evidence, factor, start, share, inlier
    none, plain_some, plain_none, outcomes = [], [], [], []
    for factor in factors:
        log_prior = -0.5 * (math.log(factor) / 0.6) ** 2
        own = []
        for c in carried:
            begun = State(
                np.array([0.3 * factor]),
                state.inlier[[c]],
                np.minimum(state.temperature[[c]], 2.0),
                state.share[[c]],
                state.kinds[[c]],
            )
            out = model.em(begun, start[[c]], 4 if single else 5)
            alone = float(model.evidence_without_outliers(start[[c]], np.array([0.3 * factor]))[0])
            own.append((float(out.evidence[0]), alone, int(start[c]), out))
        top = max(own, key=lambda one: one[0])
        some.append((top[0] + log_prior, factor, top[2], float(top[3].state.share[0]), top[3].state.inlier[0]))
        outcomes.append(top[3])
        none.append(max(one[1] for one in own) + log_prior)
        plain_some.append(top[0])
        plain_none.append(max(one[1] for one in own))

    log_odds = np.logaddexp.reduce([one[0] for one in some]) - np.logaddexp.reduce(none)
    assert best.log_odds == pytest.approx(log_odds, abs=1e-6)
    evidence = np.logaddexp(np.logaddexp.reduce(plain_some), np.logaddexp.reduce(plain_none)) - math.log(3)
    assert best.evidence == pytest.approx(evidence, abs=1e-6)
    winner = max(range(3), key=lambda i: some[i][0])
    assert (best.factor, best.start) == (some[winner][1], some[winner][2])
    assert best.amplitude == pytest.approx(0.3 * best.factor)
    assert best.share == pytest.approx(some[winner][3])
    clean = 1.0 / (1.0 + math.exp(log_odds))
    weight = np.exp([one[0] for one in some] - np.max([one[0] for one in some]))
    inlier = clean + (1 - clean) * sum(w * one[4] for w, one in zip(weight / weight.sum(), some, strict=True))
    np.testing.assert_allclose(judged.inlier, inlier, atol=1e-9)
    out = outcomes[winner]
    np.testing.assert_allclose(judged.residual, out.residual[0], atol=1e-9)
    np.testing.assert_allclose(judged.std, np.sqrt(out.var[0]))
    field_var = out.var[0] - (0.25 * best.amplitude) ** 2
    np.testing.assert_allclose(judged.explained, np.clip(1 - field_var / (best.amplitude**2 * 1.2), 0, 1), atol=1e-9)
    np.testing.assert_array_equal(judged.kind, out.kinds[0].argmax(axis=0))


def test_a_prior_against_outliers_moves_the_odds() -> None:
    model, starts = model_and_starts(single=True)
    model.options = MixtureOptions(prior_clean=0.9)
    judged, best = average_hypotheses(model, starts, (1.0,))
    clean = 1.0 / (1.0 + math.exp(best.log_odds + math.log(1.0 / 0.9 - 1.0)))
    model.options = MixtureOptions(prior_clean=0.5)
    even, _ = average_hypotheses(model, starts, (1.0,))
    half = 1.0 / (1.0 + math.exp(best.log_odds))
    np.testing.assert_allclose(1 - judged.inlier, (1 - even.inlier) * (1 - clean) / (1 - half), atol=1e-9)


def test_readings_that_nothing_explains_give_numbers() -> None:
    """Their evidence is so small that its exponential is 0."""
    rng = np.random.default_rng(0)
    log_z, features = 30.0 * rng.normal(size=60), rng.normal(size=(60, 8))
    starts = Starts.of(np.zeros((1, 60)), log_z, 8)
    model = MixtureModel(log_z, starts.trends, features, np.zeros(60, bool), MixtureOptions(), 0.3)
    judged, best = average_hypotheses(model, starts, FACTORS)
    assert best.evidence < -400.0
    assert np.isfinite(judged.inlier).all()


def test_readings_are_dealt_into_groups() -> None:
    assert [group.tolist() for group in divided(160)] == [list(range(160))]
    for num, count in ((161, 2), (320, 2), (321, 3)):
        groups = divided(num)
        assert len(groups) == count
        assert max(map(len, groups)) - min(map(len, groups)) <= 1
        assert sorted(np.concatenate(groups).tolist()) == list(range(num))
        assert np.ptp(groups[0]) > num // 2, "not the first ones"


def test_judgements_are_put_in_order() -> None:
    groups = [np.array([2, 0]), np.array([1])]
    parts = [Judgement(values, values, values, values, group) for group in groups for values in [10.0 * group]]
    found = in_order(parts, groups)
    for name in ("inlier", "residual", "std", "explained"):
        assert getattr(found, name).tolist() == [0.0, 10.0, 20.0]
    assert found.kind.tolist() == [0, 1, 2]


def test_features_without_an_image_are_those_of_a_photograph() -> None:
    samples, _ = scene(num=80)
    assert samples.x is not None
    found = features_alone(samples)
    spans = np.ptp(samples.uv_px, axis=0)
    np.testing.assert_allclose(found[:, :2], samples.uv_px / (0.85 * 1.6 * math.sqrt(spans.prod())))
    assert not found[:, 2:7].any()
    ratio = np.diff(found[:, 7]) / np.diff(samples.x)
    np.testing.assert_allclose(ratio, ratio[0])
    assert 0.5 < ratio[0] * np.ptp(samples.x) * 0.8 < 1.5
    alone = features_alone(replace(samples, x=None, native=False))
    np.testing.assert_array_equal(alone[:, 7], 0.0)


def test_features_of_an_image() -> None:
    samples, _ = scene(num=5)
    image = ImageAppearance(np.zeros((480, 640, 3), np.uint8))
    assert image_features(samples, None, None) is None
    assert image_features(replace(samples, uv_px=np.zeros((0, 2)), z_m=np.zeros(0), x=np.zeros(0)), image, None) is None
    field = np.linspace(0.0, 2.0, 480 * 640).reshape(480, 640)
    wanted = PixelFeatures(image, field, LengthScales(), None).at(samples.uv_px, samples.x)
    np.testing.assert_array_equal(np.asarray(image_features(samples, image, field)), wanted)


@pytest.mark.parametrize("gate", [Consensus(), ConsensusLearned()])
def test_what_is_prepared_beside_the_network_is_what_the_gate_computes(
    gate: Consensus, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples, _ = scene(num=40)
    field = np.linspace(0.0, 2.0, 480 * 640).reshape(480, 640)
    pixels = np.random.default_rng(0).integers(0, 256, (480, 640, 3), dtype=np.uint8)
    late, early = ImageAppearance(pixels), ImageAppearance(pixels)
    expected = gate(samples, late, field)
    gate.prepare(without_relative(samples), early)
    (kept,) = early.kept.values()
    computed: list[Hypothesis] = []
    model_alone = Consensus._model_alone

    def spy(self: Consensus, *asked: Any) -> tuple[Judgement, Hypothesis]:
        judged, best = model_alone(self, *asked)
        computed.append(best)
        return judged, best

    monkeypatch.setattr(Consensus, "_model_alone", spy)
    np.testing.assert_array_equal(gate(samples, early, field).weight, expected.weight)
    assert not computed, "it was there"
    gate(samples, late, field)
    assert computed == [kept[1]]
    gate(replace(samples, z_m=1.01 * samples.z_m), early, field)
    replace(gate, dof=6.0)(samples, early, field)
    assert len(computed) == 3, "of other readings or another gate it is not taken"


@pytest.mark.parametrize("num", [0, 2, 161])
def test_nothing_is_prepared_for_too_few_or_too_many(num: int) -> None:
    samples, _ = scene(num=num)
    image = ImageAppearance(np.zeros((480, 640, 3), np.uint8))
    Consensus().prepare(without_relative(samples), image)
    assert not image.kept


def test_verdicts_are_what_the_model_says() -> None:
    samples, _ = scene(num=40)
    bad = corrupted(samples, 0.4 * samples.z_m, np.arange(40) < 6)
    gate = Consensus()
    (group,) = gate.judge_groups(bad, [np.arange(40)], None)
    result = gate(bad)
    np.testing.assert_allclose(result.weight, group.judgement.inlier, atol=1e-3)  # the least ones become 0
    np.testing.assert_array_equal(result.keep, group.judgement.inlier >= 0.5)
    np.testing.assert_allclose(result.score, np.abs(group.judgement.residual) / group.judgement.std)
    assert group.best.factor in FACTORS
    stated = gate.verdict(
        bad,
        group.judgement,
        np.full(40, 0.2),
        features=None,
        outlier_probability=np.full(40, 0.1),
        keep=np.ones(40, bool),
    )
    assert stated.keep.all()
    assert stated.weight[0] == 0.2
    flat = gate(replace(bad, x=np.full(40, 3.0)))
    assert (flat.status, flat.use_relative) == ("constant_relative_depth", False)
    alone = gate(replace(bad, x=None, native=False))
    np.testing.assert_array_equal(flat.weight, alone.weight)
    assert alone.status == "ok"


@pytest.mark.parametrize(("alone", "kept_from"), [(False, 0.5), (True, 0.3)])
def test_what_is_kept_by_its_weight(alone: bool, kept_from: float) -> None:
    samples, _ = scene(num=4)
    one = replace(samples, x=None, native=False) if alone else samples
    zeros = np.zeros(4)
    judged = Judgement(zeros, zeros, np.ones(4), zeros, np.zeros(4, np.intp))
    weight = np.array([0.29, 0.3, 0.49, 0.5])
    assert Consensus().verdict(one, judged, weight, features=None).keep.tolist() == (weight >= kept_from).tolist()


def test_other_groups_start_from_what_the_first_found() -> None:
    samples, rng = scene(num=60)
    bad = corrupted(samples, samples.z_m * rng.uniform(0.2, 0.6, 60), np.arange(60) % 4 == 0)
    groups = [np.arange(0, 60, 2), np.arange(1, 60, 2)]
    around = np.stack([np.asarray(bad.x) - 0.1, np.asarray(bad.x) + 0.3], axis=1)
    first, second = Consensus().judge_groups(bad, groups, None, around)
    assert second.best.factor == first.best.factor
    np.testing.assert_allclose(first.local_range, np.tile([-0.1, 0.3], (30, 1)), atol=1e-6)
    np.testing.assert_allclose(second.local_range, np.tile([-0.1, 0.3], (30, 1)), atol=1e-6)
    assert (second.judgement.inlier >= 0.5).mean() > 0.85
    plain = Consensus().judge_groups(bad, groups, None)
    np.testing.assert_array_equal(plain[1].local_range, 0.0)
    np.testing.assert_array_equal(plain[1].judgement.inlier, second.judgement.inlier)

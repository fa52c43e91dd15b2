"""The learned classifier: no worse where the mixture model is right."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac import Anchors, Calibrator
from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.gate.consensus import Consensus, classifier
from mrac.gate.consensus_learned import ConsensusLearned, _logistic
from mrac.space import SPACES, Space
from mrac.types import RelativeDepth
from tests.mrac.gate.consensus.test_classifier import in_order
from tests.mrac.gate.test_consensus import corrupted, errors, scene


@pytest.mark.parametrize("space", SPACES)
def test_clean_readings_are_kept(space: Space) -> None:
    """Around a network that errs as none in training did, and without the image."""
    results = [ConsensusLearned()(scene(space, seed=seed)[0]) for seed in range(6)]
    assert np.mean([result.keep.mean() for result in results]) > 0.9
    assert all(
        result.outlier_probability is not None and result.outlier_probability.mean() < 0.15 for result in results
    )
    assert all(result.status == "ok" for result in results)


@pytest.mark.parametrize("kind", ["near", "sentinel"])
def test_two_readings_in_five_are_wrong(kind: str) -> None:
    lost = 0
    for space in SPACES:
        for seed in range(4):
            samples, rng = scene(space, seed=seed)
            wrong = rng.permutation(len(samples)) < 24
            near = samples.z_m * rng.uniform(0.2, 0.6, len(samples))
            bad = corrupted(samples, near if kind == "near" else np.full(len(samples), 10.0), wrong)
            lost += sum(errors(bad, wrong, ConsensusLearned()))
    assert lost < 0.04 * len(SPACES) * 4 * 60


def test_many_readings_are_judged_in_groups() -> None:
    samples, rng = scene(num=1500)
    wrong = rng.permutation(len(samples)) < 450
    bad = corrupted(samples, samples.z_m * rng.uniform(0.2, 0.6, len(samples)), wrong)
    kept_wrong, lost_right = errors(bad, wrong, ConsensusLearned())
    assert kept_wrong < 30
    assert lost_right < 60


def test_the_order_of_the_readings_does_not_matter() -> None:
    samples, rng = scene(num=60)
    bad = corrupted(samples, 0.4 * samples.z_m, np.arange(60) < 12)
    order = rng.permutation(60)
    first, again = ConsensusLearned()(bad), ConsensusLearned()(in_order(bad, order))
    np.testing.assert_allclose(again.weight, first.weight[order], atol=1e-6)
    np.testing.assert_array_equal(again.keep, first.keep[order])


def test_the_verdict_goes_by_the_probability_and_the_weight_does_not() -> None:
    samples, rng = scene(num=60)
    bad = corrupted(samples, samples.z_m * rng.uniform(0.7, 1.0, 60), np.arange(60) < 20)
    results = [ConsensusLearned(reject_from=limit)(bad) for limit in (0.1, 0.3, 0.6)]
    for limit, result in zip((0.1, 0.3, 0.6), results, strict=True):
        assert result.outlier_probability is not None
        np.testing.assert_array_equal(result.keep, result.outlier_probability < limit)
        np.testing.assert_array_equal(result.weight, results[0].weight)
        assert ((result.reason == "consistent") == result.keep).all()
    assert results[0].keep.sum() < results[2].keep.sum()
    assert results[0].outlier_probability is not None
    assert np.corrcoef(results[0].weight, results[0].outlier_probability)[0, 1] < -0.7


def test_the_mixture_model_keeps_some_influence() -> None:
    samples, rng = scene(num=60)
    bad = corrupted(samples, samples.z_m * rng.uniform(0.3, 0.6, 60), np.arange(60) < 15)
    alone, with_it = (ConsensusLearned(model_weight=weight)(bad) for weight in (0.0, 0.5))
    assert alone.outlier_probability is not None
    assert with_it.outlier_probability is not None
    assert (with_it.outlier_probability >= alone.outlier_probability).all()
    assert (with_it.weight <= alone.weight).all()
    assert with_it.outlier_probability[:15].mean() > alone.outlier_probability[:15].mean()


def test_without_a_foundation_it_is_consensus() -> None:
    samples, _ = scene(num=40)
    for alone in (
        replace(samples, x=None, native=False),
        replace(samples, x=np.ones(40)),
    ):
        bad = corrupted(alone, 0.2 * alone.z_m, np.arange(40) < 3)
        plain, learned = Consensus()(bad), ConsensusLearned()(bad)
        np.testing.assert_array_equal(learned.weight, plain.weight)
        np.testing.assert_array_equal(learned.outlier_probability, plain.outlier_probability)
    assert ConsensusLearned()(scene(num=2)[0]).status == "too_few_anchors"


def test_where_the_readings_contradict_the_network_it_is_consensus() -> None:
    samples, rng = scene(num=40)
    contradicted = replace(samples, x=rng.normal(size=40))
    plain, learned = Consensus()(contradicted), ConsensusLearned()(contradicted)
    assert (learned.status, learned.use_relative) == ("foundation_disagrees", False)
    np.testing.assert_array_equal(learned.keep, plain.keep)
    np.testing.assert_array_equal(learned.weight, plain.weight)


@pytest.mark.parametrize(
    "options", [{"reject_from": 0.0}, {"reject_from": 1.0}, {"model_weight": -0.1}, {"amplitude": -1.0}]
)
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        ConsensusLearned(**options)


def test_the_answer_states_the_probability_and_not_the_weight() -> None:
    H, W = 96, 128
    v, u = np.mgrid[0:H, 0:W]
    z = 1.5 + v / 40.0 + 1.5 * (u > 80)
    image = np.dstack([(40 * z).astype(np.uint8)] * 3)
    rng = np.random.default_rng(0)
    uv = np.stack([rng.integers(0, W, 40), rng.integers(0, H, 40)], axis=1)
    reading = z[uv[:, 1], uv[:, 0]] * np.where(np.arange(40) < 8, 0.3, 1.0)
    calibrator = Calibrator(gate="consensus_learned")
    given = image, Anchors(uv, reading), RelativeDepth(np.log(z), "log_depth")
    answer = calibrator(*given)
    usable = answer.anchors.reason != "outvoted"
    assert not answer.anchors.keep[:8].any()
    assert answer.anchors.keep[8:][usable[8:]].mean() > 0.9
    np.testing.assert_array_equal(answer.anchors.keep[usable], answer.anchors.outlier_probability[usable] < 0.2)
    assert not np.allclose(answer.anchors.outlier_probability[usable], 1.0 - answer.anchors.weight[usable], atol=1e-4)


def test_weights_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "own.npz"
    with np.load(Path(classifier.__file__).parents[2] / "weights" / "consensus_learned.npz") as file:
        arrays = dict(file)
    arrays["out"] = np.zeros_like(arrays["out"])
    arrays["out"][-1] = 9.0, -9.0  # every reading an outlier, of no weight
    np.savez(own, **arrays)
    samples = scene("log_depth", seed=1)[0]
    gate = ConsensusLearned(weights=str(own), near_object_odds=0.0)
    assert gate(samples).status == "all_anchors_rejected"
    result = gate.judge(samples)
    assert result.outlier_probability is not None
    assert (result.outlier_probability > 0.99).all()
    assert (result.weight < 0.01).all()
    assert ConsensusLearned()(samples).keep.any()


def test_weights_that_are_not_there() -> None:
    with pytest.raises(ContractError, match=r"nowhere\.npz"):
        ConsensusLearned(weights="nowhere.npz")


def test_by_default_the_mixture_model_counts() -> None:
    """Errors larger than any in training: the model's own log odds make them surer outliers."""
    surprise = {"default": 0.0, "classifier alone": 0.0}
    for seed in range(4):
        samples, rng = scene(seed=seed)
        wrong = rng.permutation(60) < 18
        bad = corrupted(samples, samples.z_m * rng.uniform(5.0, 9.0, 60), wrong)
        for name, gate in (("default", ConsensusLearned()), ("classifier alone", ConsensusLearned(model_weight=0.0))):
            probability = gate(bad).outlier_probability
            assert probability is not None
            surprise[name] += float((1.0 - probability[wrong]).sum())
    assert surprise["default"] < 0.5 * surprise["classifier alone"]


def test_the_mixture_model_keeps_its_share_of_the_odds() -> None:
    samples, _ = scene(num=30)
    bad = corrupted(samples, 0.4 * samples.z_m, np.arange(30) < 5)
    gate = ConsensusLearned(model_weight=0.7)
    (group,) = gate.judge_groups(bad, [np.arange(30)], None)
    features = classifier.reading_features(group)
    plain = classifier.load_classifier("consensus_learned")(features)
    against = 0.7 * np.minimum(features["model_logit"], 0.0)  # only what the model takes for an outlier
    assert (against < -1.0).any()
    assert (against == 0.0).any()
    found = gate._logits(group)
    np.testing.assert_allclose(found.outlier, plain.outlier - against)
    np.testing.assert_allclose(found.weight, plain.weight + against)
    result = gate(bad)
    outlier = 1.0 / (1.0 + np.exp(-found.outlier))
    np.testing.assert_allclose(np.asarray(result.outlier_probability), outlier, rtol=1e-9)
    np.testing.assert_array_equal(result.keep, outlier < 0.3)
    np.testing.assert_allclose(result.weight, 1.0 / (1.0 + np.exp(-found.weight)), atol=1e-3)


def near_scene(distance_m: FloatArray, seed: int) -> tuple[ImageArray, Anchors, RelativeDepth]:
    """A street, 2 to 30 m, before which a box stands that the network puts at 0.6 m; readings on the box as given."""
    H, W = 120, 160
    box = np.zeros((H, W), bool)
    box[40:80, 60:110] = True
    v, u = np.mgrid[0:H, 0:W]
    z = 2.0 + 28.0 * ((H - 1 - v) / H) ** 2
    image = np.dstack([np.where(box, 200, 60 + u // 4)] * 3).astype(np.uint8)
    rng = np.random.default_rng(seed)
    field = np.log(np.where(box, 0.6, z)) + 0.02 * np.sin(u / 25.0) * np.cos(v / 30.0)
    on_box = rng.permutation(np.argwhere(box)[:, ::-1])[: len(distance_m)]
    beside = rng.permutation(np.argwhere(~box)[:, ::-1])[:40]
    reading = z[beside[:, 1], beside[:, 0]] * rng.normal(1.0, 0.01, 40)
    anchors = Anchors(np.concatenate([on_box, beside]), np.concatenate([distance_m, reading]))
    return image, anchors, RelativeDepth(field, "log_depth")


@pytest.mark.parametrize("seed", range(3))
def test_readings_of_an_object_that_the_network_misses_are_kept_since_they_agree(seed: int) -> None:
    distance_m = 0.35 * np.random.default_rng(seed).normal(1.0, 0.02, 6)
    given = near_scene(distance_m, seed)
    answer, without = Calibrator()(*given), Calibrator(gate="consensus_learned:near_object_odds=0")(*given)
    assert answer.anchors.keep.all()
    assert answer.depth_m[60, 85] == pytest.approx(0.35, rel=0.1)
    assert without.anchors.keep[:6].sum() <= 2  # what classifier and mixture model say of readings so near
    assert without.depth_m[60, 85] > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_near_readings_that_each_have_an_error_of_their_own_are_still_rejected(seed: int) -> None:
    given = near_scene(0.6 * np.array([0.2, 0.26, 0.34, 0.44, 0.55]), seed)
    assert not Calibrator()(*given).anchors.keep[:5].any()


def test_a_near_object_is_what_its_own_readings_agree_on() -> None:
    sure = {"reading": -1.5, "similar_agree": 0.8, "model_logit": -3.0, "model_z_score": 5.0, "repeated": 0.0}
    cases = {
        "shared error": (sure, 1.0),
        "predicted": ({**sure, "similar_agree": 0.0, "model_logit": 5.0, "model_z_score": -0.5}, 1.0),
        "alone": ({**sure, "similar_agree": 0.3}, 0.0),
        "as near as the scene": ({**sure, "reading": -0.7}, 0.0),
        "farther": ({**sure, "reading": 1.5}, 0.0),
        "half as near": ({**sure, "reading": -1.0}, 0.5),
        "a sentinel": ({**sure, "repeated": 1.0}, 0.0),
        "unsure": ({**sure, "similar_agree": 0.0, "model_logit": 1.9, "model_z_score": 0.0}, 0.0),
        "not predicted": ({**sure, "similar_agree": 0.0, "model_logit": 5.0, "model_z_score": math.asinh(2.1)}, 0.0),
        "halves": ({**sure, "similar_agree": 0.5, "model_logit": 3.0, "model_z_score": 0.0}, 0.75),
    }
    for name, (features, wanted) in cases.items():
        found = classifier.near_object({key: np.array([value]) for key, value in features.items()})
        assert found == pytest.approx(wanted), name


def test_odds_are_bounded() -> None:
    found = _logistic(np.array([-1e9, 0.0, np.log(3.0), 1e9]))
    np.testing.assert_allclose(found, [np.exp(-50.0), 0.5, 0.75, 1.0], rtol=1e-9)


def test_readings_of_a_table_that_are_rounded_to_millimetres_keep_their_weight() -> None:
    """A row over a flat surface has six values, each many times: none of them is a sentinel."""
    v, u = np.mgrid[0:120, 0:160]
    truth_m = 0.7 + 0.00025 * (v - 60) + 0.00003 * u
    field = np.log(truth_m) + 0.03 * np.sin(u / 40.0) + 0.1 * v / 120
    u_px = np.linspace(2, 157, 50).round()
    anchors = Anchors(np.stack([u_px, np.full(50, 60.0)], axis=1), truth_m[60, u_px.astype(int)].round(3))
    image = np.random.default_rng(0).integers(0, 255, (120, 160, 3), dtype=np.uint8)
    result = Calibrator()(image, anchors, RelativeDepth(field.astype(np.float32), "log_depth"))
    assert np.median(result.anchors.weight) > 0.5
    assert result.anchors.keep.all()

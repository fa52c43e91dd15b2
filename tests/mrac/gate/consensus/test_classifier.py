"""The classifier: its weights are read whole or refused; its features do not depend on the order of the readings."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.gate.consensus import Consensus
from mrac.gate.consensus.classifier import Classifier, load_classifier, local_range, reading_features
from mrac.gate.theil_sen_mad import theil_sen_gate
from mrac.gp.kernel import covariance
from mrac.space import SPACES
from mrac.types import Samples
from tests.mrac.gate.test_consensus import scene


def in_order(samples: Samples, order: NDArray[np.intp]) -> Samples:
    assert samples.x is not None
    x, weight = samples.x[order], samples.weight[order]
    return Samples(samples.uv_px[order], samples.z_m[order], x, samples.space, samples.native, weight)


def features_of(samples: Samples) -> dict[str, FloatArray]:
    (group,) = Consensus().judge_groups(samples, [np.arange(len(samples))], None)
    return reading_features(group)


def arrays(**changes: Any) -> dict[str, Any]:
    """Two inputs: the first raises the logit, the mean of the second lowers it."""
    made: dict[str, Any] = {
        "names": np.array(["a", "b"]),
        "mean": np.zeros(2),
        "std": np.ones(2),
        "own": np.array([[1.0], [0.0]]),
        "own_bias": np.zeros(1),
        "all": np.array([[0.0], [1.0]]),
        "all_bias": np.zeros(1),
        "share": np.array([[-1.0]]),
        "hidden": np.array([[2.0]]),
        "hidden_bias": np.zeros(1),
        "out": np.array([[1.0, -2.0], [-0.5, 3.0]]),
    }
    return {**made, **changes}


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "weights.npz"
    np.savez(path, **arrays(**changes))
    return path


def test_logits_by_hand(tmp_path: Path) -> None:
    made = Classifier.load(written(tmp_path))
    inputs = {"b": np.array([0.5, 1.5]), "a": np.array([3.0, 0.0]), "unused": np.ones(2)}
    np.testing.assert_allclose(made(inputs).outlier, [2.0 * (3.0 - 1.0) - 0.5, -0.5])
    np.testing.assert_allclose(made(inputs).weight, [-2.0 * 2.0 * (3.0 - 1.0) + 3.0, 3.0])
    far = {"a": np.array([1e9]), "b": np.array([-1e9])}
    np.testing.assert_allclose(made(far).outlier, [2.0 * 4.0 - 0.5])


@pytest.mark.parametrize(
    "changes", [{"own": np.ones((3, 1))}, {"out": np.ones(2)}, {"mean": np.array([0.0, np.nan])}, {"std": np.ones(3)}]
)
def test_weights_that_do_not_fit_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ContractError, match="fit together"):
        Classifier.load(written(tmp_path, **changes))


def test_a_missing_file_or_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"none\.npz"):
        Classifier.load(tmp_path / "none.npz")
    with pytest.raises(ContractError, match="'b'"):
        Classifier.load(written(tmp_path))({"a": np.ones(2)})


def test_the_shipped_weights_take_these_features() -> None:
    samples, _ = scene()
    found = features_of(samples)
    assert {str(name) for name in load_classifier("consensus_learned").names} == set(found)
    assert np.isfinite(load_classifier("consensus_learned")(found)).all()
    assert sum(part.size for part in load_classifier("consensus_learned")[3:]) < 75_000


@pytest.mark.parametrize("num", [3, 4, 5, 6, 50])
def test_any_number_of_readings_gives_the_same_numbers_of_each(num: int) -> None:
    samples, _ = scene(num=num)
    found = features_of(samples)
    assert all(values.shape == (num,) and np.isfinite(values).all() for values in found.values())
    assert list(found) == list(features_of(scene(num=7)[0]))


def test_extreme_readings_give_finite_numbers() -> None:
    samples, _ = scene(num=20)
    z_m = samples.z_m * np.where(np.arange(20) % 2, 1e-3, 1e4)
    found = features_of(Samples(samples.uv_px, z_m, samples.x, "log_depth", True, samples.weight))
    assert all(np.isfinite(values).all() and np.abs(values).max() < 100.0 for values in found.values())


def test_the_order_does_not_matter() -> None:
    samples, rng = scene(num=40)
    z_m = samples.z_m * np.where(np.arange(40) < 5, 0.4, 1.0)
    bad = Samples(samples.uv_px, z_m, samples.x, "log_depth", True, samples.weight)
    order = rng.permutation(40)
    again = features_of(in_order(bad, order))
    for name, values in features_of(bad).items():
        assert np.abs(again[name] - values[order]).max() < 1e-6, name


def test_a_group_of_outliers_has_neighbours_that_agree_and_a_single_one_has_none() -> None:
    samples, _ = scene(num=60)
    left = np.argsort(samples.uv_px[:, 0] + samples.uv_px[:, 1])[:8]
    single = int(np.argmax(samples.uv_px[:, 0] - samples.uv_px[:, 1]))
    z_m = samples.z_m.copy()
    z_m[left] *= 0.4
    z_m[single] *= 0.4
    found = features_of(Samples(samples.uv_px, z_m, samples.x, "log_depth", True, samples.weight))
    assert np.median(found["near_agree"][left]) > 0.3
    assert found["near_agree"][single] < 0.05


def test_the_local_range_is_in_log_depth_in_every_space() -> None:
    for space in SPACES:
        samples, _ = scene(space)
        assert samples.x is not None
        spread = 0.2 * np.ptp(samples.x)
        around = np.stack([samples.x - spread, samples.x + spread], axis=1)
        (group,) = Consensus().judge_groups(samples, [np.arange(len(samples))], None, around)
        assert (group.local_range[:, 0] <= 0.0).all()
        assert (group.local_range[:, 1] >= 0.0).all()
        assert np.ptp(group.local_range) > 0.1


def test_the_local_range_spans_both_sides_of_an_edge() -> None:
    field = np.where(np.arange(200) < 100, 1.0, 2.0).astype(np.float32) * np.ones((100, 1), np.float32)
    at = np.array([[50.0, 50.0], [97.0, 50.0], [102.0, 50.0], [150.0, 50.0], [0.0, 0.0], [199.0, 99.0]])
    low, high = local_range(field, at).T
    np.testing.assert_array_equal(low, [1, 1, 1, 2, 1, 2])
    np.testing.assert_array_equal(high, [1, 2, 2, 2, 1, 2])
    assert local_range(field[:1, :1], np.zeros((0, 2))).shape == (0, 2)
    np.testing.assert_array_equal(local_range(field[:1, :1], np.zeros((1, 2))), [[1.0, 1.0]])


def test_features_by_hand() -> None:
    """Each input of the classifier from its definition, reading by reading."""
    samples, _ = scene(num=12)
    assert samples.x is not None
    z_m = samples.z_m * np.where(np.arange(12) < 3, [0.3, 3.0, 0.05, *[1.0] * 9], 1.0)
    z_m[:2] = z_m[0]
    bad = Samples(samples.uv_px, z_m, samples.x, "log_depth", True, samples.weight)
    around = np.stack([samples.x - 0.2, samples.x + np.linspace(0.0, 3.0, 12)], axis=1)
    (group,) = Consensus().judge_groups(bad, [np.arange(12)], None, around)
    found = reading_features(group)
    model, judged, best, local = group
    error, places = model.error[best.start], np.arange(12)
    log_z = np.log(z_m)

    def clipped(value: FloatArray) -> FloatArray:
        return np.clip(value, -2.5, 2.5)

    def left_out(k: int, others: NDArray[np.intp]) -> tuple[float, float]:
        noise = (0.25 * best.amplitude) ** 2
        weighted = noise / np.maximum(judged.inlier, 1e-3)
        contrast = model.problem.contrast[best.start]
        total = best.amplitude**2 * covariance(model.features) + 2.25 + 0.15**2 * np.outer(contrast, contrast)
        total += np.diag(weighted)
        gain = np.linalg.solve(total[np.ix_(others, others)], total[others, k])
        var = max(total[k, k] - gain @ total[others, k] - weighted[k], 1e-6) + noise
        return error[k] - gain @ error[others], var

    inlier = np.clip(judged.inlier, 1e-4, 1 - 1e-4)
    wanted = {
        "model_logit": np.log(inlier / (1 - inlier)),
        "model_z_score": np.arcsinh(judged.residual / judged.std),
        "explained": judged.explained,
        "reading": clipped(log_z - np.median(log_z)),
        "trend": clipped(log_z - error - np.median(log_z - error)),
        "repeated": np.zeros(12),
        "edge_low": np.clip(local[:, 0], -2.0, 2.0),
        "edge_high": np.clip(local[:, 1], -2.0, 2.0),
        "amplitude": np.full(12, np.log(best.amplitude)),
        "inlier_share": np.full(12, best.share),
        "log_odds": np.full(12, np.arcsinh(best.log_odds)),
        "count": np.full(12, np.log(12)),
        "mean_outlier": np.full(12, 1 - judged.inlier.mean()),
    }
    line = theil_sen_gate(log_z - error, log_z)
    sigma = max(line.sigma, 1e-3)
    wanted["theil_sen_z_score"] = np.arcsinh(line.residual / sigma)
    wanted["theil_sen_residual"] = clipped(line.residual)
    wanted["theil_sen_log_sigma"] = np.full(12, np.log(sigma))
    rows: dict[str, list[float]] = {}
    for k in range(12):
        for name, features in (("similar", model.features), ("near", model.features[:, :2])):
            distance = np.linalg.norm(features - features[k], axis=1)
            distance[k] = -1.0
            nearest = np.argsort(distance)[1:5]
            others, weight = error[nearest], judged.inlier[nearest] + 0.02
            mean = (weight * (error[k] - others)).sum() / weight.sum()
            each = {
                "difference": float(clipped(np.array(mean))),
                "least": min(float(np.abs(error[k] - others).min()), 1.0),
                "inlier": float(judged.inlier[nearest].mean()),
                "spread": min(float(others.std()), 2.0),
                "agree": float(np.exp(-0.5 * ((error[k] - others) / 0.1) ** 2).mean()),
            }
            for key, value in each.items():
                rows.setdefault(f"{name}_{key}", []).append(value)
            if name == "similar":
                rows.setdefault("nearest_distance", []).append(float(np.log(distance[nearest[0]] + 0.02)))
                residual, var = left_out(k, np.setdiff1d(places, [k]))
                far_residual, far_var = left_out(k, np.setdiff1d(places, [k, *nearest]))
                for key, number in (
                    ("residual", clipped(np.array(residual))),
                    ("z_score", np.arcsinh(residual / np.sqrt(var))),
                    ("far_residual", clipped(np.array(far_residual))),
                    ("far_z_score", np.arcsinh(far_residual / np.sqrt(far_var))),
                    ("neighbour_effect", clipped(np.array(far_residual - residual))),
                    ("far_log_std", 0.5 * np.log(far_var)),
                    ("field", clipped(np.array(error[k] - residual))),
                    ("residual_to_high", clipped(residual - np.clip(local[k, 1], -2.0, 2.0))),
                    ("residual_to_low", clipped(residual - np.clip(local[k, 0], -2.0, 2.0))),
                ):
                    rows.setdefault(key, []).append(float(number))
    wanted |= {name: np.array(values) for name, values in rows.items()}
    assert set(found) == set(wanted)
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-6, err_msg=name)


def test_certain_readings_have_a_bounded_logit() -> None:
    """Inlier probabilities are clipped at both ends, where the logarithm would not be finite."""
    samples, _ = scene(num=12)
    (group,) = Consensus().judge_groups(samples, [np.arange(12)], None)
    certain = np.where(np.arange(12) < 6, 1.0, 0.0)
    found = reading_features(group._replace(judgement=group.judgement._replace(inlier=certain)))
    np.testing.assert_allclose(np.abs(found["model_logit"]), np.log(0.9999 / 0.0001), rtol=1e-6)

"""A file of weights is read whole or refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.gate.consensus import Consensus
from mrac.gate.consensus.classifier import Scorer, scorer_of
from mrac.gate.consensus.classifier_inputs import told_of
from tests.mrac.gate.test_consensus import scene


def arrays(**changes: Any) -> dict[str, Any]:
    """Two inputs, of which the first is what is wrong, and the mean of the second speaks against it."""
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


def test_scores_by_hand(tmp_path: Path) -> None:
    scorer = Scorer.load(written(tmp_path))
    told = {"b": np.array([0.5, 1.5]), "a": np.array([3.0, 0.0]), "unheard": np.ones(2)}
    np.testing.assert_allclose(scorer(told).wrong, [2.0 * (3.0 - 1.0) - 0.5, -0.5])
    np.testing.assert_allclose(scorer(told).trust, [-2.0 * 2.0 * (3.0 - 1.0) + 3.0, 3.0])
    far = {"a": np.array([1e9]), "b": np.array([-1e9])}
    np.testing.assert_allclose(scorer(far).wrong, [2.0 * 4.0 - 0.5])


@pytest.mark.parametrize(
    "changes", [{"own": np.ones((3, 1))}, {"out": np.ones(2)}, {"mean": np.array([0.0, np.nan])}, {"std": np.ones(3)}]
)
def test_weights_that_do_not_fit_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ContractError, match="fit together"):
        Scorer.load(written(tmp_path, **changes))


def test_a_missing_file_or_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"none\.npz"):
        Scorer.load(tmp_path / "none.npz")
    with pytest.raises(ContractError, match="'b'"):
        Scorer.load(written(tmp_path))({"a": np.ones(2)})


def test_the_shipped_weights_know_what_is_told() -> None:
    samples, _ = scene()
    (part,) = Consensus().parts(samples, [np.arange(len(samples))])
    found = told_of(*part)
    assert {str(name) for name in scorer_of("consensus_learned").names} == set(found)
    assert np.isfinite(scorer_of("consensus_learned")(found)).all()
    assert sum(part.size for part in scorer_of("consensus_learned")[3:]) < 12_000

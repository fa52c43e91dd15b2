from pathlib import Path

import numpy as np
import pytest

from mrac.errors import ContractError
from mrac.gate.consensus.classifier import Classifier
from mrac.lab.train.gate.average import average_classifiers

NAMES = ("residual", "count", "explained")


def classifier(seed: int, widths: tuple[int, int, int], names: tuple[str, ...] = NAMES) -> Classifier:
    rng = np.random.default_rng(seed)
    F, (H, C, G) = len(names), widths
    shapes = [(F, H), (H,), (F, C), (C,), (C, H), (H, G), (G,), (G + 1, 2)]
    return Classifier(
        np.array(names), rng.normal(size=F), rng.uniform(0.9, 1.1, F), *map(rng.normal, [0.0] * 8, [1.0] * 8, shapes)
    )


def saved(made: Classifier, path: Path) -> Path:
    np.savez(path, **made._asdict())
    return path


def test_log_odds_are_the_mean_of_both(tmp_path: Path) -> None:
    made = [classifier(1, (8, 3, 4)), classifier(2, (6, 2, 5))]
    first, second = (saved(one, tmp_path / f"{i}.npz") for i, one in enumerate(made))
    average_classifiers(first, second, tmp_path / "both.npz")
    features = dict(zip(NAMES, np.random.default_rng(3).uniform(-1.0, 1.0, (3, 20)), strict=True))
    answers = np.array([one(features) for one in made])
    assert np.abs(answers[0] - answers[1]).max() > 0.1
    np.testing.assert_allclose(Classifier.load(tmp_path / "both.npz")(features), answers.mean(axis=0), atol=1e-4)


def test_different_inputs_are_refused(tmp_path: Path) -> None:
    first = saved(classifier(1, (4, 2, 2)), tmp_path / "a.npz")
    second = saved(classifier(1, (4, 2, 2), ("residual", "count", "place")), tmp_path / "b.npz")
    with pytest.raises(ContractError, match="different inputs"):
        average_classifiers(first, second, tmp_path / "both.npz")
    assert not (tmp_path / "both.npz").exists()

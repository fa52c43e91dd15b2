"""The mean of two trained classifiers of the gate, as one classifier: its layers are both networks side by side."""

from pathlib import Path

import numpy as np
from scipy.linalg import block_diag

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.gate.consensus.classifier import Classifier
from mrac.io.files import write_whole


def average_classifiers(first: Path, second: Path, out: Path) -> None:
    """Writes to `out` a classifier whose log odds are the mean of those of two files of `mrac train gate`.

    Inputs beyond four standard deviations are clipped with the deviations of both trainings pooled: there, and only
    there, the result is not exactly the mean.

    Raises:
        ContractError: the files hold no classifiers, or their inputs differ.
    """
    a, b = Classifier.load(first), Classifier.load(second)
    if a.names.tolist() != b.names.tolist():
        raise ContractError(f"train: {first} and {second} are classifiers of different inputs; the same are needed")
    mean, std = (a.mean + b.mean) / 2.0, np.sqrt((a.std**2 + b.std**2) / 2.0)
    a, b = _for_inputs(a, mean, std), _for_inputs(b, mean, std)
    both = a._replace(
        own=np.hstack([a.own, b.own]),
        own_bias=np.hstack([a.own_bias, b.own_bias]),
        all=np.hstack([a.all, b.all]),
        all_bias=np.hstack([a.all_bias, b.all_bias]),
        share=block_diag(a.share, b.share),
        hidden=block_diag(a.hidden, b.hidden),
        hidden_bias=np.hstack([a.hidden_bias, b.hidden_bias]),
        out=np.concatenate([a.out[:-1], b.out[:-1], a.out[-1:] + b.out[-1:]]) / 2.0,
    )
    arrays = {name: array.astype(np.float32) for name, array in both._asdict().items() if name != "names"}
    write_whole(out, lambda file: np.savez(file, names=both.names, **arrays))


def _for_inputs(classifier: Classifier, mean: FloatArray, std: FloatArray) -> Classifier:
    """The same classifier for inputs that are standardised by another mean and deviation (F,)."""
    moved, wider = (mean - classifier.mean) / classifier.std, (std / classifier.std)[:, None]
    return classifier._replace(
        mean=mean,
        std=std,
        own=classifier.own * wider,
        own_bias=classifier.own_bias + moved @ classifier.own,
        all=classifier.all * wider,
        all_bias=classifier.all_bias + moved @ classifier.all,
    )

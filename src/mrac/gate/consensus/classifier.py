"""A few thousand numbers that turn what is known of a reading into how likely it is wrong, and how far to trust it."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.io.files import read_arrays, user_path

REACH: Final = 4.0  # deviations of an input beyond which it says no more
_WEIGHTS: Final = Path(__file__).parents[2] / "weights"
_ARRAYS: Final = ("names", "mean", "std", "own", "own_bias", "all", "all_bias", "share", "hidden", "hidden_bias", "out")


class Scores(NamedTuple):
    """Log odds (K,) of being wrong, and of being heard: the weight that makes the best depth."""

    wrong: FloatArray
    trust: FloatArray


class Scorer(NamedTuple):
    """Two hidden layers for every reading, the first of which also hears the mean over all readings.

    Attributes:
        names: (F,) of the inputs, by which they are put in order.
        mean, std: (F,) of the inputs in training.
        own, own_bias: (F, H), (H,) first layer.
        all, all_bias: (F, C), (C,) what is averaged over the readings.
        share: (C, H) from there to the first layer.
        hidden, hidden_bias: (H, G), (G,) second layer.
        out: (G + 1, 2) to the two log odds of `Scores`, the bias last.
    """

    names: NDArray[np.str_]
    mean: FloatArray
    std: FloatArray
    own: FloatArray
    own_bias: FloatArray
    all: FloatArray
    all_bias: FloatArray
    share: FloatArray
    hidden: FloatArray
    hidden_bias: FloatArray
    out: FloatArray

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads an .npz of these arrays.

        Raises:
            ContractError: the file is missing, broken or of another shape.
        """
        found = read_arrays(path, _ARRAYS)
        scorer = cls(found["names"], *(found[name].astype(np.float64) for name in _ARRAYS[1:]))
        F, H, C, G = scorer.names.size, scorer.own_bias.size, scorer.all_bias.size, scorer.hidden_bias.size
        needed = [(F,), (F,), (F,), (F, H), (H,), (F, C), (C,), (C, H), (H, G), (G,), (G + 1, 2)]
        if [part.shape for part in scorer] != needed or not all(np.isfinite(part).all() for part in scorer[1:]):
            raise ContractError(f"{path}: its arrays do not fit together; a file of `mrac train gate` is needed")
        return scorer

    def __call__(self, testimony: Mapping[str, FloatArray]) -> Scores:
        """Of K readings that were judged together, from (K,) inputs by name.

        Raises:
            ContractError: an input is missing.
        """
        if missing := [str(name) for name in self.names if str(name) not in testimony]:
            raise ContractError(f"gate: the weights need {missing[0]!r}, which nothing tells; train them anew")
        inputs = np.stack([testimony[str(name)] for name in self.names], axis=1)
        told = np.clip((inputs - self.mean) / self.std, -REACH, REACH)
        scene = np.maximum(told @ self.all + self.all_bias, 0.0).mean(axis=0) @ self.share
        first = np.maximum(told @ self.own + self.own_bias + scene, 0.0)
        second = np.maximum(first @ self.hidden + self.hidden_bias, 0.0)
        return Scores(*(second @ self.out[:-1] + self.out[-1]).T)


def scorer_of(weights: str) -> Scorer:
    """The one in the package for `consensus_learned`, else the one in that .npz file of `mrac train gate`.

    Raises:
        ContractError: the file is missing or is not such a one.
    """
    path = user_path(weights) if weights.endswith(".npz") else _WEIGHTS / f"{weights}.npz"
    return _loaded(path, path.stat().st_mtime_ns if path.is_file() else 0)


@lru_cache(maxsize=8)
def _loaded(path: Path, changed_ns: int) -> Scorer:  # keyed by the time of the last change
    return Scorer.load(path)

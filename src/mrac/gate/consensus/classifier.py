"""MLP classifier: features of each reading → logits of being an outlier, and of its weight.

The features do not depend on the order of the readings, and there may be any number of them. They are logarithms,
shares and residuals in standard deviations: the same in rooms and in streets.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.gate.consensus import Group
from mrac.gate.consensus.em import left_one_out
from mrac.gp.kernel import distances
from mrac.gp.linear_algebra import Blocks
from mrac.io.arrays import read_arrays
from mrac.io.files import user_path
from mrac.robust_line.theil_sen import theil_sen_mad
from mrac.runtime.blas import product
from mrac.runtime.weight_files import WEIGHTS

MAX_STD: Final = 4.0  # standard deviations of an input at which it is clipped
_ARRAYS: Final = ("names", "mean", "std", "own", "own_bias", "all", "all_bias", "share", "hidden", "hidden_bias", "out")
_NEAREST: Final = 4  # neighbours that are compared with, or left out
_AGREE: Final = 0.1  # in log depth: the width of "the same error"
_MAX_LOG_RATIO: Final = 2.5  # in log depth: where residuals are clipped
_MIN_PROBABILITY: Final = 1e-4  # and 1 − its complement
_MIN_SIGMA: Final = 1e-3  # of the Theil–Sen line, in log depth
# A reading is far nearer than the scene from the first on, in log depth below the median reading, and wholly from the
# second on; its most similar readings share its error by so much of `similar_agree`; its mixture model is sure of it by
# such log odds, and predicts it within so many standard deviations (as asinh).
_NEARER: Final = (0.8, 1.2)
_SHARED: Final = (0.4, 0.6)
_SURE: Final = (2.0, 4.0)
_PREDICTED: Final = (-math.asinh(2.0), -math.asinh(1.0))
# Of the shorter side: a beam's width, and how far a network blurs an edge.
_LOCAL_RADII: Final = (0.008, 0.015, 0.025, 0.04)


class Logits(NamedTuple):
    """Log odds (K,) of being an outlier, and of the weight: that which gives the best depth."""

    outlier: FloatArray
    weight: FloatArray


class Classifier(NamedTuple):
    """Two hidden layers for every reading, the first of which also sees a mean over all readings.

    Attributes:
        names: (F,) of the inputs, by which they are put in order.
        mean, std: (F,) of the inputs in training.
        own, own_bias: (F, H), (H,) first layer.
        all, all_bias: (F, C), (C,) what is averaged over the readings.
        share: (C, H) from there to the first layer.
        hidden, hidden_bias: (H, G), (G,) second layer.
        out: (G + 1, 2) to the two logits, the bias last.
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
        classifier = cls(found["names"], *(found[name].astype(np.float64) for name in _ARRAYS[1:]))
        F, H, C, G = (
            part.size for part in (classifier.names, classifier.own_bias, classifier.all_bias, classifier.hidden_bias)
        )
        needed = [(F,), (F,), (F,), (F, H), (H,), (F, C), (C,), (C, H), (H, G), (G,), (G + 1, 2)]
        if [part.shape for part in classifier] != needed or not all(np.isfinite(part).all() for part in classifier[1:]):
            raise ContractError(f"{path}: its arrays do not fit together; a file of `mrac train gate` is needed")
        return classifier

    def __call__(self, features: Mapping[str, FloatArray]) -> Logits:
        """Logits of K readings of one group, from (K,) features by name.

        Raises:
            ContractError: an input is missing.
        """
        names: list[str] = self.names.tolist()
        if missing := [name for name in names if name not in features]:
            raise ContractError(f"gate: the weights need {missing[0]!r}, which is not computed; train them anew")
        inputs = np.array([features[name] for name in names]).T
        scaled = np.clip((inputs - self.mean) / self.std, -MAX_STD, MAX_STD)
        scene = product(np.maximum(product(scaled, self.all) + self.all_bias, 0.0).mean(axis=0), self.share)
        first = np.maximum(product(scaled, self.own) + self.own_bias + scene, 0.0)
        second = np.maximum(product(first, self.hidden) + self.hidden_bias, 0.0)
        return Logits(*(product(second, self.out[:-1]) + self.out[-1]).T)


def load_classifier(weights: str) -> Classifier:
    """The one in the package for `consensus_learned`, else the one in that .npz file of `mrac train gate`.

    Raises:
        ContractError: the file is missing or is not such a one.
    """
    path = user_path(weights) if weights.endswith(".npz") else WEIGHTS / f"{weights}.npz"
    return _loaded(path, path.stat().st_mtime_ns if path.is_file() else 0)


@lru_cache(maxsize=8)
def _loaded(path: Path, changed_ns: int) -> Classifier:  # keyed by the time of the last change
    return Classifier.load(path)


def reading_features(group: Group) -> dict[str, FloatArray]:
    """The inputs of the classifier by name, (K,) each."""
    model, judged, best, local_range = group
    K, error = judged.inlier.size, model.error[best.start]
    distance = distances(model.features)
    similar, near = (_nearest(d) for d in (distance, distances(model.features[:, :2])))
    residual, var, far_residual, far_var = _leave_one_and_neighbours_out(group, similar)
    of_scene = {
        "amplitude": math.log(best.amplitude),
        "inlier_share": best.share,
        "log_odds": math.asinh(best.log_odds),
        "count": math.log(K),
        "mean_outlier": float(1.0 - judged.inlier.mean()),
    }
    inlier = np.clip(judged.inlier, _MIN_PROBABILITY, 1.0 - _MIN_PROBABILITY)
    low, high = np.clip(local_range, -2.0, 2.0).T
    of_reading = {
        "model_logit": np.log(inlier / (1.0 - inlier)),
        "model_z_score": np.arcsinh(judged.residual / judged.std),
        "z_score": np.arcsinh(residual / np.sqrt(var)),
        "far_z_score": np.arcsinh(far_residual / np.sqrt(far_var)),
        "residual": _clipped(residual),
        "far_residual": _clipped(far_residual),
        "neighbour_effect": _clipped(far_residual - residual),
        "explained": judged.explained,
        "far_log_std": 0.5 * np.log(far_var),
        "field": _clipped(error - residual),
        "edge_high": high,
        "edge_low": low,
        "residual_to_high": _clipped(residual - high),
        "residual_to_low": _clipped(residual - low),
        "trend": _clipped(model.log_z - error - np.median(model.log_z - error)),
        "reading": _clipped(model.log_z - np.median(model.log_z)),
        "repeated": model.repeated.astype(np.float64),
        "nearest_distance": np.log(distance[np.arange(K), similar[:, 1]] + 0.02),
        **_theil_sen(model.log_z, error),
        **_neighbours("similar", error, judged.inlier, similar),
        **_neighbours("near", error, judged.inlier, near),
    }
    return {**of_reading, **{name: np.full(K, value) for name, value in of_scene.items()}}


def near_object(features: Mapping[str, Any]) -> Any:
    """How sure it is that a reading far nearer than the scene is of an object, (K,) from 0 to 1; of numpy or of torch.

    Multipath shortens each reading by a factor of its own. So readings that share one error, or that the mixture model
    predicts from each other, are of an object that the network misses. The classifier was trained on few such.
    """
    nearer = _ramp(-features["reading"], *_NEARER)
    shared = _ramp(features["similar_agree"], *_SHARED)
    predicted = _ramp(features["model_logit"], *_SURE) * _ramp(-abs(features["model_z_score"]), *_PREDICTED)
    return nearer * (shared + predicted - shared * predicted) * (1.0 - features["repeated"])


def _ramp(values: Any, low: float, high: float) -> Any:
    return ((values - low) / (high - low)).clip(0.0, 1.0)


def local_range(field: FloatArray, uv_px: FloatArray) -> FloatArray:
    """(K, 2) float64 minimum and maximum of an (H, W) field around (K, 2) positions, themselves included.

    Sampled in eight directions at four distances, up to 0.04 of the image's shorter side.
    """
    H, W = field.shape
    angle = np.arange(8) * (np.pi / 4.0)
    radius = np.array(_LOCAL_RADII)[:, None] * min(H, W)
    du, dv = (np.append(0.0, radius * turn) for turn in (np.cos(angle), np.sin(angle)))
    u = np.clip(np.rint(uv_px[:, :1] + du), 0, W - 1).astype(np.intp)
    v = np.clip(np.rint(uv_px[:, 1:] + dv), 0, H - 1).astype(np.intp)
    around = field[v, u]
    return np.stack([around.min(axis=1), around.max(axis=1)], axis=1).astype(np.float64)


def _clipped(log_ratio: FloatArray) -> FloatArray:
    return np.clip(log_ratio, -_MAX_LOG_RATIO, _MAX_LOG_RATIO)


def _nearest(distance_KK: FloatArray) -> NDArray[np.intp]:
    """(K, 1 + _NEAREST) each reading, then those nearest to it; all there are where they are fewer."""
    distance, places = distance_KK.copy(), np.arange(len(distance_KK))
    chosen = [places]
    for _ in range(min(_NEAREST, len(places) - 1)):  # four passes are faster than a sort
        distance[places, chosen[-1]] = np.inf
        chosen.append(distance.argmin(axis=1))
    return np.stack(chosen, axis=1)


def _leave_one_and_neighbours_out(
    group: Group, members: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """(K,) leave-one-out residual and its variance; then the same with its nearest (`members`) left out too."""
    model, judged, best, _ = group
    found = np.empty((4, members.shape[0]))
    for place, left_out in ((0, members[:0]), (2, members)):
        problem = model.problem._replace(clusters=Blocks.of(list(left_out)))
        left_one_out(problem, best.start, best.amplitude, judged.inlier, found[place], found[place + 1])
    residual, var, far_residual, far_var = found
    return residual, var, far_residual, far_var


def _theil_sen(log_z: FloatArray, error: FloatArray) -> dict[str, FloatArray]:
    """Residuals around the Theil–Sen line in log depth: the paper's gate."""
    _, _, sigma, residual, _, _ = theil_sen_mad(np.ascontiguousarray(log_z - error), log_z, 2.0)
    sigma = max(sigma, _MIN_SIGMA)
    return {
        "theil_sen_z_score": np.arcsinh(residual / sigma),
        "theil_sen_residual": _clipped(residual),
        "theil_sen_log_sigma": np.full(error.size, math.log(sigma)),
    }


def _neighbours(name: str, error: FloatArray, inlier: FloatArray, members: NDArray[np.intp]) -> dict[str, FloatArray]:
    """How a reading's error compares with its neighbours', and whether those are inliers: one outlier, or a group."""
    others, of_others = error[members[:, 1:]], inlier[members[:, 1:]]
    difference = error[:, None] - others
    weight = of_others + 0.02
    return {
        f"{name}_difference": _clipped((weight * difference).sum(axis=1) / weight.sum(axis=1)),
        f"{name}_least": np.minimum(np.abs(difference).min(axis=1), 1.0),
        f"{name}_inlier": of_others.mean(axis=1),
        f"{name}_spread": np.minimum(others.std(axis=1), 2.0),
        f"{name}_agree": np.exp(-0.5 * (difference / _AGREE) ** 2).mean(axis=1),
    }

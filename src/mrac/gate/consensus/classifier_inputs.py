"""What is known of each reading once the mixture has settled: the inputs of the learned gate.

None of them knows the order of the readings, or needs a certain number of them. Logarithms, shares and numbers of
deviations only: the same in rooms and in streets.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.gate.consensus.leave_one_out import distances
from mrac.gate.consensus.model import Judged, Readings, Settled
from mrac.gp.linear_algebra import invert
from mrac.robust_line.theil_sen import theil_sen_mad

_NEAREST: Final = 4  # neighbours that are asked, or left out
_AGREE: Final = 0.1  # in log depth: what counts as the same error
_FARTHEST: Final = 2.5  # in log depth: more is all the same
_LEAST: Final = 1e-4  # probability, and its complement
_NARROWEST: Final = 1e-3  # deviation, in log depth


def told_of(readings: Readings, judged: Judged, settled: Settled, beside_K2: FloatArray) -> dict[str, FloatArray]:
    """By name, (K,) each; `beside_K2` as in `consensus.Part`."""
    K, error = judged.right.size, readings.error[settled.start]
    everyone = distances(readings.features)
    alike, near = (_nearest(d) for d in (everyone, distances(readings.features[:, :2])))
    residual, var, far_residual, far_var = _against_others(readings, settled, judged.right, alike)
    of_scene = {
        "amplitude": math.log(settled.amplitude),
        "share": settled.share,
        "odds": math.asinh(settled.odds),
        "count": math.log(K),
        "mean_wrong": float(1.0 - judged.right.mean()),
    }
    right = np.clip(judged.right, _LEAST, 1.0 - _LEAST)
    low, high = np.clip(beside_K2, -2.0, 2.0).T
    told = {
        "plain": np.log(right / (1.0 - right)),
        "judged_deviations": np.arcsinh(judged.residual / judged.std),
        "deviations": np.arcsinh(residual / np.sqrt(var)),
        "far_deviations": np.arcsinh(far_residual / np.sqrt(far_var)),
        "residual": _held(residual),
        "far_residual": _held(far_residual),
        "told_by_near": _held(far_residual - residual),
        "known": judged.known,
        "far_std": 0.5 * np.log(far_var),
        "field": _held(error - residual),
        "edge_high": high,
        "edge_low": low,
        "off_high": _held(residual - high),
        "off_low": _held(residual - low),
        "trend": _held(readings.log_z - error - np.median(readings.log_z - error)),
        "reading": _held(readings.log_z - np.median(readings.log_z)),
        "repeated": readings.repeated.astype(np.float64),
        "nearest": np.log(everyone[np.arange(K), alike[:, 1]] + 0.02),
        **_line(readings.log_z, error),
        **_neighbours("alike", error, judged.right, alike),
        **_neighbours("near", error, judged.right, near),
    }
    return {**told, **{name: np.full(K, value) for name, value in of_scene.items()}}


def _held(log_ratio: FloatArray) -> FloatArray:
    return np.clip(log_ratio, -_FARTHEST, _FARTHEST)


def _nearest(distance_KK: FloatArray) -> NDArray[np.intp]:
    """(K, 1 + _NEAREST) each reading, then those nearest to it; all there are where they are fewer."""
    distance, places = distance_KK.copy(), np.arange(len(distance_KK))
    chosen = [places]
    for _ in range(min(_NEAREST, len(places) - 1)):  # one after the other: four passes are sooner done than a sort
        distance[places, chosen[-1]] = np.inf
        chosen.append(distance.argmin(axis=1))
    return np.stack(chosen, axis=1)


def _against_others(
    readings: Readings, settled: Settled, right: FloatArray, members: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """(K,) error against the field of the others and its variance; then without its nearest (`members`) too."""
    total, noise = readings.covariance(np.array([settled.start]), np.array([settled.amplitude]), right[None])
    inverse = invert(total)[0]
    var = 1.0 / np.diagonal(inverse)
    weights = inverse @ readings.error[settled.start]
    block = invert(inverse[members[:, :, None], members[:, None, :]])
    far_residual = (block[:, 0] * weights[members]).sum(axis=1)
    own, far = (noise.of_a_right_one(v)[0] for v in (var, block[:, 0, 0]))
    return weights * var, own, far_residual, far


def _line(log_z: FloatArray, error: FloatArray) -> dict[str, FloatArray]:
    """What the paper's gate would say, in log depth."""
    _, _, sigma, residual, _, _ = theil_sen_mad(np.ascontiguousarray(log_z - error), log_z, 2.0)
    sigma = max(sigma, _NARROWEST)
    return {
        "line_deviations": np.arcsinh(residual / sigma),
        "line_residual": _held(residual),
        "line_sigma": np.full(error.size, math.log(sigma)),
    }


def _neighbours(name: str, error: FloatArray, right: FloatArray, members: NDArray[np.intp]) -> dict[str, FloatArray]:
    """How far a reading's error differs from its neighbours', and what became of them: one stray, or one of a group."""
    others, believed = error[members[:, 1:]], right[members[:, 1:]]
    difference = error[:, None] - others
    weight = believed + 0.02
    return {
        f"{name}_difference": _held((weight * difference).sum(axis=1) / weight.sum(axis=1)),
        f"{name}_least": np.minimum(np.abs(difference).min(axis=1), 1.0),
        f"{name}_right": believed.mean(axis=1),
        f"{name}_spread": np.minimum(others.std(axis=1), 2.0),
        f"{name}_agree": np.exp(-0.5 * (difference / _AGREE) ** 2).mean(axis=1),
    }

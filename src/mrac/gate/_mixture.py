"""Which of K readings are wrong: right ones follow a smooth field, wrong ones follow one of a few broad densities.

ln z = trend + g + noise for a right reading, g a Gaussian process over position and relative depth: the error of a
foundation is smooth, so neighbours are better witnesses than one line through all. A wrong reading is nearer than its
surroundings by a factor (multipath), anywhere in the range of the readings, anywhere at all, or equal to a value that
many repeat (a sentinel); how common each kind is, is learnt from the readings themselves. Responsibilities and the
field are found in turn (EM), each reading judged by the field without it (leave-one-out in closed form), from several
starts, annealed; the start whose mixture predicts the readings best wins.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray
from mrac.gate._hypotheses import Starts
from mrac.head._matern import FINE, FINE_VAR

_SHIFT_STD: Final = 1.5  # of the scale, in log depth: all but unknown
_ROUNDS: Final = 12
_COOLING: Final = 0.7  # of the temperature, a round
_SETTLE: Final = 3  # rounds before the amplitude is estimated
_NEAR: Final = (math.log(0.15), math.log(0.8))  # of z over the surroundings: what multipath makes of a reading
_ANYWHERE: Final = 2.5  # in log depth, to either side
_SENTINEL: Final = 20.0  # density of a value that repeats: as if it were five per cent wide
_FLOOR: Final = 1e-3  # density of a kind of error where it does not occur: nothing is impossible
KINDS: Final = ("near", "range", "anywhere", "sentinel")


class Beliefs(NamedTuple):
    """What is believed before the readings are seen.

    Attributes:
        amplitude: standard deviation of the smooth error, in log depth.
        noise: of a reading and of what is finer than anchors can tell, as a share of the amplitude.
        slope_std: relative standard deviation of the trend's contrast.
        right, wrong: how many right and wrong readings the prior counts for.
        least: the smallest amplitude, as a share of the prior one.
        held: how many readings the prior amplitude counts for.
    """

    amplitude: float
    noise: float
    slope_std: float
    right: float
    wrong: float
    least: float
    held: float


class Judged(NamedTuple):
    """The outcome of one start.

    Attributes:
        right: (K,) probability of each reading to be right.
        residual: (K,) ln z less what the others say.
        std: (K,) of that, for a right reading.
        kind: (K,) the likeliest of `KINDS`, if it is wrong.
        evidence: log density of the readings, each given the others.
        start: the number of the start.
    """

    right: FloatArray
    residual: FloatArray
    std: FloatArray
    kind: NDArray[np.intp]
    evidence: float
    start: int


def covariance(features_KF: FloatArray) -> FloatArray:
    """(K, K) of the smooth error, in units of the amplitude²: Matérn 3/2 at the two scales of the kriging head."""
    square = (features_KF * features_KF).sum(axis=1)
    distance = np.sqrt(np.maximum(square[:, None] + square[None] - 2.0 * features_KF @ features_KF.T, 0.0))
    return np.asarray(_matern(distance) + FINE_VAR * _matern(FINE * distance))


def _matern(distance: FloatArray) -> FloatArray:
    s = math.sqrt(3.0) * distance
    return np.asarray((1.0 + s) * np.exp(-s))


def judge(log_z: FloatArray, starts: Starts, smooth_KK: FloatArray, repeated: BoolArray, beliefs: Beliefs) -> Judged:
    """The best of S starts.

    Args:
        log_z: (K,) readings.
        starts: S of them.
        smooth_KK: of `covariance`.
        repeated: (K,) whether many readings have the same value.
        beliefs: before the readings.
    """
    (S, K), places = starts.right.shape, np.arange(len(log_z))
    error, common = _centred(log_z, starts.trends, beliefs)
    amplitude, share, heat, right = np.full(S, beliefs.amplitude), np.full(S, 0.8), starts.heat, starts.right
    num_kinds = len(KINDS) if repeated.any() else len(KINDS) - 1
    shares_SC = np.full((S, num_kinds), 1.0 / num_kinds)
    densities = _Densities(np.exp(log_z), repeated)
    for step in range(_ROUNDS):
        noise_var = (beliefs.noise * amplitude) ** 2
        doubt = noise_var[:, None] / np.maximum(right, 1e-3)  # a reading that is not believed is a noisy one
        total = (amplitude**2)[:, None, None] * smooth_KK + common
        total[:, places, places] += doubt
        residual, var = leave_one_out(total, error, doubt)
        var = var + noise_var[:, None]
        hot = var * heat[:, None]
        is_right = share[:, None] * np.exp(-0.5 * residual * residual / hot) / np.sqrt(2.0 * np.pi * hot)
        kinds_SCK = shares_SC[:, :, None] * densities(residual)[:, :num_kinds]
        broad = kinds_SCK.sum(axis=1)
        density = is_right + (1.0 - share)[:, None] * broad
        right = is_right / density
        count_SC = (kinds_SCK / broad[:, None] * (1.0 - right)[:, None]).sum(axis=2)
        shares_SC = (count_SC + 1.0) / (count_SC.sum(axis=1, keepdims=True) + num_kinds)
        share = (right.sum(axis=1) + beliefs.right) / (K + beliefs.right + beliefs.wrong)
        heat = np.maximum(1.0, heat * _COOLING)
        if step >= _SETTLE:
            off = (right * residual * residual / var).sum(axis=1)
            grown = amplitude * np.sqrt((beliefs.held + off) / (beliefs.held + right.sum(axis=1)))
            amplitude = np.clip(grown, beliefs.least * beliefs.amplitude, 3.0 * beliefs.amplitude)
    evidence = np.log(density).sum(axis=1)
    best = int(np.argmax(evidence))
    kind = kinds_SCK[best].argmax(axis=0)
    return Judged(right[best], residual[best], np.sqrt(var[best]), kind, float(evidence[best]), best)


def evidence_of_all_right(
    log_z: FloatArray, trend: FloatArray, smooth_KK: FloatArray, beliefs: Beliefs, tail: float = 4.0
) -> float:
    """Log density of the readings, each given the others, if none is wrong: the rival of `Judged.evidence`.

    With Student's tails of `tail` degrees of freedom, since right readings stray too, and averaged over amplitudes:
    without a mixture to swallow what strays, the amplitude must be free.
    """
    factors = np.array([0.6, 0.8, 1.0, 1.3, 1.7, 2.2])
    places, amplitude = np.arange(len(log_z)), beliefs.amplitude * factors
    error, common = _centred(log_z, trend[None], beliefs)
    total = (amplitude**2)[:, None, None] * smooth_KK + common
    total[:, places, places] += ((beliefs.noise * amplitude) ** 2)[:, None]
    residual, var = leave_one_out(total, np.repeat(error, len(factors), axis=0), 0.0)
    scale2 = var * (tail - 2.0) / tail * 1.2  # the variance is the field's, and a little more
    constant = math.lgamma((tail + 1.0) / 2.0) - math.lgamma(tail / 2.0) - 0.5 * math.log(tail * math.pi)
    each = constant - 0.5 * np.log(scale2) - (tail + 1.0) / 2.0 * np.log1p(residual**2 / (tail * scale2))
    prior = -0.5 * (np.log(factors) / 0.4) ** 2
    return float(np.logaddexp.reduce(each.sum(axis=1) + prior))


def leave_one_out(
    total_SKK: FloatArray, error_SK: FloatArray, own_SK: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """(S, K) error of each reading against the field of the others, and that field's variance.

    In closed form from the inverse (Rasmussen & Williams 2006, eqs. 5.10–5.12); `own_SK` is each reading's own noise,
    which is taken off.
    """
    inverse = np.linalg.inv(total_SKK)
    diagonal = np.diagonal(inverse, axis1=1, axis2=2)
    residual = (inverse @ error_SK[:, :, None])[:, :, 0] / diagonal
    return residual, np.maximum(1.0 / diagonal - own_SK, 1e-6)


def _centred(log_z: FloatArray, trends_SK: FloatArray, beliefs: Beliefs) -> tuple[FloatArray, FloatArray]:
    """(S, K) error of the trends without its median, and (S, K, K) covariance of an unknown shift and contrast."""
    error = log_z - trends_SK
    error = error - np.median(error, axis=1, keepdims=True)
    contrast = trends_SK - trends_SK.mean(axis=1, keepdims=True)
    outer = contrast[:, :, None] * contrast[:, None, :]
    return error, _SHIFT_STD**2 + beliefs.slope_std**2 * outer


class _Densities:
    """Of a wrong reading in log depth, by `KINDS`; those that do not depend on the field are computed once."""

    def __init__(self, z_m: FloatArray, repeated: BoolArray) -> None:
        self._in_range = z_m / max(float(np.ptp(z_m)), 1e-3 * float(z_m.max()))
        self._sentinel = np.where(repeated, _SENTINEL, _FLOOR)

    def __call__(self, residual_SK: FloatArray) -> FloatArray:
        """(S, C, K)."""
        low, high = _NEAR
        near = np.where((residual_SK > low) & (residual_SK < high), 1.0 / (high - low), _FLOOR)
        anywhere = np.where(np.abs(residual_SK) < _ANYWHERE, 0.5 / _ANYWHERE, _FLOOR)
        in_range, sentinel = (np.broadcast_to(part, residual_SK.shape) for part in (self._in_range, self._sentinel))
        return np.stack([near, in_range, anywhere, sentinel], axis=1)

"""Which of K readings are wrong: right ones follow a smooth field, wrong ones follow one of a few broad densities.

ln z = trend + g + noise for a right reading, g a Gaussian process over what makes two places alike: the error of a
foundation is smooth, so neighbours are better witnesses than one line through all. A wrong reading is nearer than its
surroundings by a factor (multipath), farther (a beam that passes an edge), anywhere in the range of the readings,
anywhere at all, or equal to a value that many repeat (a sentinel); how common each kind is, is learnt from the readings
themselves. Responsibilities and the field are found in turn (EM), each reading judged by the field without it, and in a
crowd without the crowd, from several starts, annealed. How good the foundation is, differs from image to image by a
factor of five: the likeliest starts are carried on at several amplitudes, and averaged by their evidence.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray
from mrac.gate.consensus.initialisation import Starts
from mrac.gate.consensus.leave_one_out import covariance, crowds, without_crowd
from mrac.gate.consensus.outlier_densities import Densities
from mrac.gp.posterior import FINE_VAR
from mrac.gp.student_t import log_density

_SHIFT_STD: Final = 1.5  # of the scale, in log depth: all but unknown
_SEARCH, _SETTLE = 5, 7  # rounds of all starts at the amplitudes of the search, then of the best ones at each
# Rounds of a group whose start and amplitude others have settled: three more change one verdict in 250, to no gain.
_FOLLOW: Final = 4
_BEST: Final = 3  # starts that are carried on
_DIFFERENT: Final = 0.2  # in the probability of some reading: less, and two starts have become one
_COOLING: Final = 0.7  # of the temperature, a round
_LUKEWARM: Final = 2.0  # temperature at which the search hands over
# Amplitudes of the search, of the prior one. A small one tells crowds apart, and a patch of wrong readings from a fault
# of the foundation; a large one bears with a foundation that is off.
_SEARCHED: Final = (0.4, 0.9)
_MAJORITY, _STRICTLY = 0.55, 60.0  # share of right readings below which a hypothesis is not believed, and how little
FACTORS: Final = (0.12, 0.32, 0.5, 0.77, 1.23, 1.9)  # amplitudes that are tried, of the prior one


class Beliefs(NamedTuple):
    """What is believed before the readings are seen.

    Attributes:
        amplitude: standard deviation of the smooth error, in log depth.
        spread: standard deviation of ln amplitude.
        noise: of a reading and of what is finer than anchors can tell, as a share of the amplitude.
        tail: degrees of freedom of Student's distribution of a right reading around the field.
        slope_std: relative standard deviation of the trend's contrast.
        right, wrong: how many right and wrong readings the prior counts for.
        clean: probability that no reading is wrong.
    """

    amplitude: float
    spread: float
    noise: float
    tail: float
    slope_std: float
    right: float
    wrong: float
    clean: float


class Judged(NamedTuple):
    """What is believed afterwards.

    Attributes:
        right: (K,) probability of each reading to be right.
        residual: (K,) ln z less what the others say.
        std: (K,) of that, for a right reading.
        known: (K,) share of the field's variance at a reading that the others take away: 0 where none is near.
        kind: (K,) the likeliest of `_densities.KINDS`, if it is wrong.
    """

    right: FloatArray
    residual: FloatArray
    std: FloatArray
    known: FloatArray
    kind: NDArray[np.intp]


class Settled(NamedTuple):
    """Which hypothesis won.

    Attributes:
        start: its number among the starts.
        factor: its amplitude as one of `FACTORS`.
        amplitude: the same in log depth.
        share: of right readings.
        odds: log evidence of "some are wrong" over "all are right", averaged over all hypotheses.
    """

    start: int
    factor: float
    amplitude: float
    share: float
    odds: float


class _State(NamedTuple):
    """S hypotheses: amplitude (S,), right (S, K), heat (S,), share of right ones (S,), of each kind of wrong (S, C)."""

    amplitude: FloatArray
    right: FloatArray
    heat: FloatArray
    share: FloatArray
    kinds: FloatArray


class _Outcome(NamedTuple):
    """A state after some rounds: log evidence (S,), residual (S, K), its variance, densities of the kinds (S, C, K)."""

    state: _State
    evidence: FloatArray
    residual: FloatArray
    var: FloatArray
    kinds: FloatArray


class Noise(NamedTuple):
    """Variance of each of K readings as far as it is believed (S, K), and of a right one (S, 1)."""

    believed: FloatArray
    right: FloatArray

    def of_a_right_one(self, var: FloatArray) -> FloatArray:
        """(S, K) variance of a reading around the others if it is right, from `var`, as far as it is believed."""
        return np.asarray(np.maximum(var - self.believed, 1e-6) + self.right)


class Readings:
    """Log readings (K,) around S trends (S, K), with all that stays the same from round to round."""

    def __init__(
        self, log_z: FloatArray, trends_SK: FloatArray, features_KF: FloatArray, repeated: BoolArray, beliefs: Beliefs
    ) -> None:
        self.densities, self.beliefs = Densities(np.exp(log_z), repeated), beliefs
        self.log_z, self.repeated, self.features = log_z, repeated, features_KF
        self.smooth_KK, self.crowds = covariance(features_KF), crowds(features_KF[:, :2])
        error = log_z - trends_SK
        self.error = error - np.median(error, axis=1, keepdims=True)
        contrast = trends_SK - trends_SK.mean(axis=1, keepdims=True)
        self.common = _SHIFT_STD**2 + beliefs.slope_std**2 * contrast[:, :, None] * contrast[:, None, :]

    def against_others(
        self, which: NDArray[np.intp], amplitude: FloatArray, right: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """(S, K) error of each reading against the field of the others, and its variance, noise included."""
        total, noise = self.covariance(which, amplitude, right)
        residual, var = without_crowd(total, self.error[which], self.crowds)
        return residual, noise.of_a_right_one(var)

    def covariance(self, which: NDArray[np.intp], amplitude: FloatArray, right: FloatArray) -> tuple[FloatArray, Noise]:
        """(S, K, K) of the readings, of which those `right` (S, K) are believed, and the noise that is in it."""
        noise_var = ((self.beliefs.noise * amplitude) ** 2)[:, None]
        doubt = noise_var / np.maximum(right, 1e-3)  # a reading that is not believed is a noisy one
        total = (amplitude**2)[:, None, None] * self.smooth_KK + self.common[which]
        places = np.arange(right.shape[1])
        total[:, places, places] += doubt
        return total, Noise(doubt, noise_var)

    def rounds(self, state: _State, which: NDArray[np.intp], num: int) -> _Outcome:
        """`num` rounds of EM on hypotheses that start from the trends `which` (S,)."""
        amplitude, right, heat, share, kinds = state
        beliefs, before, K = self.beliefs, self.densities.before, right.shape[1]
        for _ in range(num):
            residual, var = self.against_others(which, amplitude, right)
            is_right = share[:, None] * np.exp(log_density(residual, var * heat[:, None], beliefs.tail))
            kinds_SCK = kinds[:, :, None] * self.densities(residual)
            broad = kinds_SCK.sum(axis=1)
            density = is_right + (1.0 - share)[:, None] * broad
            right = is_right / density
            count_SC = (kinds_SCK / broad[:, None] * (1.0 - right)[:, None]).sum(axis=2)
            kinds = (count_SC + before) / (count_SC.sum(axis=1, keepdims=True) + before.sum())
            share = (right.sum(axis=1) + beliefs.right) / (K + beliefs.right + beliefs.wrong)
            heat = np.maximum(1.0, heat * _COOLING)
        # With the priors of the shares: a crowd of 40 % must not win because it holds together a little better.
        prior = beliefs.right * np.log(share) + beliefs.wrong * np.log1p(-share) + np.log(kinds) @ before
        prior += _STRICTLY * np.minimum(share - _MAJORITY, 0.0)
        evidence = np.log(density).sum(axis=1) + prior
        return _Outcome(_State(amplitude, right, heat, share, kinds), evidence, residual, var, kinds_SCK)

    def evidence_of_all_right(self, which: NDArray[np.intp], amplitude: FloatArray) -> FloatArray:
        """(S,) log evidence of hypotheses under which nothing is wrong, priors of the shares at their best."""
        K, before = self.error.shape[1], self.densities.before
        residual, var = self.against_others(which, amplitude, np.ones((len(which), K)))
        share = (K + self.beliefs.right) / (K + self.beliefs.right + self.beliefs.wrong)
        prior = (K + self.beliefs.right) * math.log(share) + self.beliefs.wrong * math.log1p(-share)
        each = log_density(residual, var, self.beliefs.tail).sum(axis=1)
        return np.asarray(each + prior + before @ np.log(before / before.sum()))


def judge(readings: Readings, starts: Starts, factors: Sequence[float]) -> tuple[Judged, Settled]:
    """What follows from S starts, at each amplitude, averaged by evidence.

    Args:
        readings: around the trends of the starts.
        starts: S of them; where there is one it is carried on as it is.
        factors: amplitudes to try, of the prior one.
    """
    beliefs, A = readings.beliefs, len(factors)
    state, start, best = _search(readings, starts)
    carried, factor = np.repeat(best, A), np.tile(np.array(factors), len(best))
    which, amplitude = start[carried], beliefs.amplitude * factor
    prior = -0.5 * (np.log(factor) / beliefs.spread) ** 2
    state = _State(amplitude, *(part[carried] for part in state[1:]))
    num_rounds = _SETTLE if len(starts.heat) > 1 else _FOLLOW
    out = readings.rounds(state._replace(heat=np.minimum(state.heat, _LUKEWARM)), which, num_rounds)
    evidence = (out.evidence + prior).reshape(-1, A)
    all_right = (readings.evidence_of_all_right(which, amplitude) + prior).reshape(-1, A)
    # Of each amplitude the best start counts, so that copies of one hypothesis do not add up.
    rows = A * evidence.argmax(axis=0) + np.arange(A)
    weight = np.exp(evidence.max(axis=0) - evidence.max())
    odds = np.logaddexp.reduce(evidence.max(axis=0)) - np.logaddexp.reduce(all_right.max(axis=0))
    clean = 1.0 / (1.0 + math.exp(min(max(odds + math.log(1.0 / beliefs.clean - 1.0), -50.0), 50.0)))
    top = int(rows[weight.argmax()])
    field_var = out.var[top] - (beliefs.noise * amplitude[top]) ** 2
    judged = Judged(
        right=clean + (1.0 - clean) * (weight / weight.sum()) @ out.state.right[rows],
        residual=out.residual[top],
        std=np.sqrt(out.var[top]),
        known=np.clip(1.0 - field_var / (amplitude[top] ** 2 * (1.0 + FINE_VAR)), 0.0, 1.0),
        kind=out.kinds[top].argmax(axis=0),
    )
    share = float(out.state.share[top])
    return judged, Settled(int(which[top]), float(factor[top]), float(amplitude[top]), share, float(odds))


def _search(readings: Readings, starts: Starts) -> tuple[_State, NDArray[np.intp], NDArray[np.intp]]:
    """Hypotheses, the start of each (S,), and the numbers of the best ones; a start that is alone is left as it is."""
    before, start = readings.densities.before, np.repeat(np.arange(len(starts.heat)), len(_SEARCHED))
    state = _State(
        amplitude=readings.beliefs.amplitude * np.tile(_SEARCHED, len(starts.heat)),
        right=starts.right[start],
        heat=starts.heat[start],
        share=np.full(start.size, 0.8),
        kinds=np.tile(before / before.sum(), (start.size, 1)),
    )
    if len(starts.heat) == 1:
        return state, start, np.zeros(1, np.intp)
    found = readings.rounds(state, start, _SEARCH)
    return found.state, start, _distinct(found)


def _distinct(found: _Outcome) -> NDArray[np.intp]:
    """The best few hypotheses that have not become one."""
    chosen: list[int] = []
    for i in np.argsort(-found.evidence, kind="stable").tolist():
        if all(np.abs(found.state.right[i] - found.state.right[k]).max() > _DIFFERENT for k in chosen):
            chosen.append(i)
            if len(chosen) == _BEST:
                break
    return np.array(chosen)

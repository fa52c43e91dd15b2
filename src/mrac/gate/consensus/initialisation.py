"""Multi-start initialisation: several guesses of the scale, so that no group of consistent outliers decides alone."""

from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.gate.consensus.model import MixtureModel, Outcome, State
from mrac.relative import LOG_REACH
from mrac.space import log_from_space
from mrac.types import Samples

# Set by hand; halved or doubled, each changes at most 0.3 % of the verdicts (docs/consensus.md, Constants).
_HOT: Final = 16.0  # temperature of the start at which every reading is an inlier: residuals may be four times larger
_WARM: Final = 2.0  # and of a start that has chosen its inliers
_VOTE_STD: Final = 0.2  # in log depth: how near a reading must be to vote for a guess
_INLIER_STD: Final = 0.3  # and to be an inlier at first
_APART: Final = 0.25  # in log depth: two guesses nearer than this would converge to one
_CONSIDERED: Final = 40  # guesses per start that are looked through for distinct ones
_NUM_PAIRS: Final = 800  # of readings, through which lines are drawn
_REACH: Final = 3.0  # a trend stays within the readings' range widened by this factor
_SEARCH_ROUNDS: Final = 4  # of EM, for every start
# Amplitudes of the search, relative to the prior one. A small one separates groups of consistent outliers, and a patch
# of outliers from an error of the foundation; a large one tolerates a foundation that is off.
_SEARCHED: Final = (0.4, 0.9)
_DISTINCT: Final = 0.2  # in the inlier probability of some reading: less, and two hypotheses have converged to one
_CARRIED_ON: Final = 3  # hypotheses
_HOPELESS: Final = 20.0  # in log evidence below the best: no amplitude makes up for that


class Starts(NamedTuple):
    """Initial hypotheses.

    Attributes:
        trends: (S, K) log depth, up to a shift.
        inlier: (S, K) inlier probabilities.
        temperature: (S,).
        candidate: (S,) which of the candidate trends each starts from.
    """

    trends: FloatArray
    inlier: FloatArray
    temperature: FloatArray
    candidate: NDArray[np.intp]

    @classmethod
    def of(cls, trends_TK: FloatArray, log_z: FloatArray, max_starts: int) -> Self:
        """From candidate trends; of a single one, the shifts with most votes.

        Readings near the trend are inliers. One more start, from the first, is hot and takes every reading for an
        inlier.
        """
        shifts: FloatArray = np.zeros(len(trends_TK))
        candidate, trends = np.arange(len(trends_TK)), trends_TK
        if len(trends_TK) == 1:
            shifts = _shifts(log_z, trends_TK[0], max_starts)
            candidate, trends = np.zeros(shifts.size, np.intp), np.repeat(trends_TK, shifts.size, axis=0)
        inlier = _near(log_z, trends, shifts)
        return cls(
            trends=np.concatenate([trends[:1], trends]),
            inlier=np.concatenate([np.ones_like(inlier[:1]), inlier]),
            temperature=np.concatenate([[_HOT], np.full(shifts.size, _WARM)]),
            candidate=np.concatenate([candidate[:1], candidate]),
        )

    @classmethod
    def single(cls, trend: FloatArray, log_z: FloatArray, shift: float) -> Self:
        """One start, for readings (K,) whose `trend` (K,) and `shift` are known from others of the same image."""
        return cls(trend[None], _near(log_z, trend[None], np.array([shift])), np.ones(1), np.zeros(1, np.intp))


def _near(log_z: FloatArray, trends_SK: FloatArray, shifts_S: FloatArray) -> FloatArray:
    """(S, K) initial inlier probabilities."""
    return np.asarray(np.exp(-0.5 * ((log_z - trends_SK - shifts_S[:, None]) / _INLIER_STD) ** 2))


def log_trends(
    samples: Samples, group: NDArray[np.intp], max_starts: int, more_x: FloatArray | None = None
) -> FloatArray:
    """(T, K) candidates for log depth at all readings, each right up to a shift; the `group` votes on them.

    A foundation in log depth gives the one candidate itself; without a foundation it is constant. In the other spaces
    depth is a line in x, so lines through pairs of readings are tried, and those that most readings lie near are kept.
    With `more_x` (N,), the trends at these relative values follow: (T, K + N).
    """
    x = samples.x
    at = x if x is None or more_x is None else np.concatenate([x, more_x])
    if x is None or at is None or samples.flat:
        return np.zeros((1, len(samples) + (0 if more_x is None else more_x.size)))
    if samples.space == "log_depth" and samples.native:
        # Less the median, which changes nothing: around 1e30 the rounding of a mean alone would be 1e14.
        return np.asarray(np.clip(at - np.median(x), -LOG_REACH, LOG_REACH))[None]
    i, j = _pairs(group)
    y, rise = samples.y, x[i] - x[j]
    defined = np.abs(rise) > 1e-9 * max(float(np.abs(x).max()), 1e-30)
    slope = (y[i] - y[j])[defined] / rise[defined]
    if samples.native and (slope > 0.0).any():
        defined[defined] = slope > 0.0
        slope = slope[slope > 0.0]
    if not slope.size:
        return np.zeros((1, at.size))
    reach = float(samples.z_m.min()) / _REACH, float(samples.z_m.max()) * _REACH

    def trend(which: NDArray[np.intp], at_N: FloatArray) -> FloatArray:
        line = slope[which, None] * (at_N - x[i[defined][which], None]) + y[i[defined][which], None]
        return np.asarray(log_from_space(line, samples.space, *reach))

    log_z = np.log(samples.z_m[group])
    every = np.arange(slope.size)
    off = log_z - trend(every, x[group])
    votes = np.exp(-0.5 * (off / _VOTE_STD) ** 2).sum(axis=1)
    chosen = _most_votes(votes, off, max_starts)
    return trend(np.array(chosen), at)


def search(model: MixtureModel, starts: Starts) -> tuple[State, NDArray[np.intp], NDArray[np.intp]]:
    """Hypotheses, the start of each (S,), and the numbers of the best ones; a single start is not searched from."""
    counts, start = model.kind_counts, np.repeat(np.arange(len(starts.temperature)), len(_SEARCHED))
    inliers, outliers = model.options.prior_inliers, model.options.prior_outliers
    state = State(
        amplitude=model.amplitude * np.tile(_SEARCHED, len(starts.temperature)),
        inlier=starts.inlier[start],
        temperature=starts.temperature[start],
        share=np.full(start.size, inliers / (inliers + outliers)),
        kinds=np.tile(counts / counts.sum(), (start.size, 1)),
    )
    if len(starts.temperature) == 1:
        return state, start, np.zeros(1, np.intp)
    found = model.em(state, start, _SEARCH_ROUNDS)
    return found.state, start, _distinct(found)


def _distinct(found: Outcome) -> NDArray[np.intp]:
    """The hypotheses of the highest evidence that have not converged to one."""
    chosen: list[int] = []
    hopeful = np.flatnonzero(found.evidence >= found.evidence.max() - _HOPELESS)
    for i in hopeful[np.argsort(-found.evidence[hopeful], kind="stable")].tolist():
        if all(np.abs(found.state.inlier[i] - found.state.inlier[k]).max() > _DISTINCT for k in chosen):
            chosen.append(i)
            if len(chosen) == _CARRIED_ON:
                break
    return np.array(chosen)


def _shifts(log_z: FloatArray, trend: FloatArray, max_starts: int) -> FloatArray:
    """(S,) the shifts of a trend that most readings (K,) agree on, best first."""
    error = log_z - trend
    votes = np.exp(-0.5 * ((error[:, None] - error[None]) / _VOTE_STD) ** 2).sum(axis=1)
    return error[_most_votes(votes, error[:, None], max_starts)]


def _most_votes(votes: FloatArray, guesses_GK: FloatArray, max_starts: int) -> list[int]:
    """The guesses with most votes, each `_APART` from those before it, as a mean over the readings."""
    order = np.argsort(-votes, kind="stable")[: _CONSIDERED * max_starts]
    guesses, left = guesses_GK[order], np.ones(order.size, np.bool_)
    chosen: list[int] = []
    while len(chosen) < max_starts and left.any():
        i = int(left.argmax())
        chosen.append(int(order[i]))
        left &= np.abs(guesses - guesses[i]).mean(axis=1) > _APART
    return chosen


def _pairs(group: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs of a small group, a fixed random subset of the pairs of a larger one."""
    i, j = np.triu_indices(group.size, 1)
    if i.size > _NUM_PAIRS:
        some = np.random.default_rng(0).choice(i.size, _NUM_PAIRS, replace=False)
        i, j = i[some], j[some]
    return group[i], group[j]

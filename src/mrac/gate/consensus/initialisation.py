"""Where a robust gate may start: several guesses of the scale, so that no crowd of wrong readings decides alone."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.space import log_from_space
from mrac.types import Samples

_MOST: Final = 8  # guesses
_HOT: Final = 16.0  # temperature of a start that believes all readings
_WARM: Final = 2.0  # and of one that believes some
_VOTE_STD: Final = 0.2  # in log depth: how near a reading must be to vote for a guess
_BELIEVED_STD: Final = 0.3  # and to be believed at first
_APART: Final = 0.25  # in log depth: two guesses nearer than this would end as one
_NUM_PAIRS: Final = 800
_REACH: Final = 3.0  # a trend stays within the readings' range widened by this factor


class Starts(NamedTuple):
    """What `judge` begins with.

    Attributes:
        trends: (S, K) log depth, up to a shift.
        right: (S, K) which readings are believed.
        heat: (S,) temperatures.
    """

    trends: FloatArray
    right: FloatArray
    heat: FloatArray

    @classmethod
    def around(cls, trends_SK: FloatArray, log_z: FloatArray, shifts: FloatArray) -> Self:
        """Believes the readings near `trends_SK` + `shifts` (S,); the first start also comes hot, believing all."""
        off = log_z - trends_SK - shifts[:, None]
        believed = np.exp(-0.5 * (off / _BELIEVED_STD) ** 2)
        heat = np.full(len(shifts), _WARM)
        trends = np.concatenate([trends_SK[:1], trends_SK])
        return cls(trends, np.concatenate([np.ones_like(believed[:1]), believed]), np.concatenate([[_HOT], heat]))

    @classmethod
    def near(cls, trend: FloatArray, log_z: FloatArray, shift: float) -> Self:
        """One start, for readings (K,) whose `trend` (K,) and `shift` others of the same image have settled."""
        believed = np.exp(-0.5 * ((log_z - trend - shift) / _BELIEVED_STD) ** 2)
        return cls(trend[None], believed[None], np.ones(1))


def log_trends(samples: Samples, group: NDArray[np.intp], beside: FloatArray | None = None) -> FloatArray:
    """(T, K) candidates for log depth at all readings, each right up to a shift; the `group` votes on them.

    A foundation in log depth gives the one candidate itself; without a foundation it is flat. In the other spaces depth
    is a line in x, so lines through pairs of readings are tried, and those that most readings lie near are kept.
    Relative values `beside` (N,) the readings' are told too: (T, K + N).
    """
    x = samples.x
    at = x if x is None or beside is None else np.concatenate([x, beside])
    if x is None or at is None or samples.flat:
        return np.zeros((1, len(samples) + (0 if beside is None else beside.size)))
    if samples.space == "log_depth" and samples.native:
        return np.asarray(np.clip(at, np.median(x) - 20.0, np.median(x) + 20.0))[None]
    i, j = _pairs(group)
    y, rise = samples.y, x[i] - x[j]
    told = np.abs(rise) > 1e-9 * max(float(np.abs(x).max()), 1e-30)
    slope = (y[i] - y[j])[told] / rise[told]
    if samples.native and (slope > 0.0).any():
        told[told] = slope > 0.0
        slope = slope[slope > 0.0]
    if not slope.size:
        return np.zeros((1, at.size))
    reach = float(samples.z_m.min()) / _REACH, float(samples.z_m.max()) * _REACH

    def trend(which: NDArray[np.intp], at_N: FloatArray) -> FloatArray:
        line = slope[which, None] * (at_N - x[i[told][which], None]) + y[i[told][which], None]
        return np.asarray(log_from_space(line, samples.space, *reach))

    log_z = np.log(samples.z_m[group])
    every = np.arange(slope.size)
    off = log_z - trend(every, x[group])
    votes = np.exp(-0.5 * (off / _VOTE_STD) ** 2).sum(axis=1)
    chosen = _spread(votes, off, lambda a, b: float(np.abs(a - b).mean()))
    return trend(np.array(chosen), at)


def shifts_of(log_z: FloatArray, trend: FloatArray) -> FloatArray:
    """(S,) the shifts of a trend that most readings (K,) agree on, best first."""
    error = log_z - trend
    votes = np.exp(-0.5 * ((error[:, None] - error[None]) / _VOTE_STD) ** 2).sum(axis=1)
    return error[_spread(votes, error, lambda a, b: abs(float(a - b)))]


def _spread(votes: FloatArray, guesses: FloatArray, distance: Callable[[Any, Any], float]) -> list[int]:
    """The guesses with most votes, each `_APART` from those before it."""
    chosen: list[int] = []
    for i in np.argsort(-votes, kind="stable")[: 40 * _MOST].tolist():
        if all(distance(guesses[i], guesses[k]) > _APART for k in chosen):
            chosen.append(i)
            if len(chosen) == _MOST:
                break
    return chosen


def _pairs(group: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs of a small group, or as many of a larger one as there is time for, always the same."""
    i, j = np.triu_indices(group.size, 1)
    if i.size > _NUM_PAIRS:
        some = np.random.default_rng(0).choice(i.size, _NUM_PAIRS, replace=False)
        i, j = i[some], j[some]
    return group[i], group[j]

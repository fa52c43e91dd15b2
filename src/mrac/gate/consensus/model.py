"""Mixture model of inliers and outliers: a Gaussian process with Student-t noise, and broad outlier densities.

An inlier is ln z = trend + g + noise, g a Gaussian process over the features of `mrac.gp`: a foundation's error is
smooth within a surface, so neighbouring readings predict each other better than one line through all of them does. An
outlier is nearer than its neighbours by a factor (multipath), farther (a beam that passes an edge), anywhere in the
range of the readings, anywhere at all, or equal to a value that many readings share (a sentinel). The shares of inliers
and of each kind of outlier are estimated from the readings. Inlier probabilities and the field are found in turn (EM);
each reading is compared with the field of the others, and inside a dense cluster with the field of those outside it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray, TextArray
from mrac.gate.consensus.em import Numbers, Problem, Rows, log_densities_of_inliers, run
from mrac.gp.kernel import ProcessOptions, covariance, distances
from mrac.gp.linear_algebra import Blocks, student_t_constant
from mrac.registry import check_numbers
from mrac.runtime.parallel import for_each_span

KINDS: Final = ("near", "far", "range", "anywhere", "sentinel")
# Of z over the value that the neighbours predict. Multipath: the paper's 0.2 to 0.6, widened on either side for errors
# of the prediction. Beams that pass an edge: from past the noise to a room seen through a door.
_NEAR: Final = (math.log(0.15), math.log(0.8))
_FAR: Final = (math.log(1.2), math.log(6.0))
# Halved or doubled, most of the constants below change under 1 % of the verdicts; see docs/consensus.md, Constants, for
# those that matter.
_ANYWHERE: Final = 2.5  # in log depth, to either side: a factor of 12
_SENTINEL: Final = 20.0  # density of a value that repeats: uniform over five per cent
# These two matter most of all constants: a quantised sensor repeats values too.
_SENTINEL_COUNT: Final = 4  # how often a value must repeat to be suspect
_SENTINEL_SHARE: Final = 0.06  # and in which share of the readings
# And so many times as often as other values within this share of it, all together: on a wall a quantised sensor
# repeats those too.
_SENTINEL_ALONE: Final = (0.5, 0.03)
PER_TENTH_MILLIMETRE: Final = 1e4
_FLOOR: Final = 1e-3  # of every density: no kind of error is impossible anywhere
_KIND_COUNTS: Final = (2.0, 1.0, 1.0, 1.0, 1.0)  # Dirichlet prior: flat, but for multipath, the most frequent error
_SHIFT_STD: Final = 1.5  # of the scale, in log depth: a factor of 4.5, all but unknown
_COOLING: Final = 0.7  # of the temperature, a round
_MIN_INLIER: Final = 1e-3  # inlier probability at which a reading's noise is capped
_MIN_VAR: Final = 1e-6  # of the field at a reading, in log depth squared: a tenth of a per cent
# In length scales of position: 0.15 of the image's shorter side. Readings that lie much denser than elsewhere are not
# independent evidence: a lidar that sees past one edge is wrong at all places along it.
_CLUSTER_RADIUS: Final = 0.094
_DENSE: Final = (2.0, 2.0)  # times the count that even spacing would give, and so many more
_EXPLAINED: Final = 0.5  # of the process's variance that neighbours must explain to be named in the reason
_MAX_LEFT_OUT: Final = 16  # readings of a cluster, the nearest

_WORTH_A_THREAD: Final = 10_000_000  # multiplications, some 2 ms


@dataclass(frozen=True, kw_only=True)
class MixtureOptions(ProcessOptions):
    """The parameters of the mixture.

    Attributes:
        amplitude: standard deviation of the foundation's smooth error, in log depth.
        amplitude_without_relative: the same of log depth itself, where there is no foundation.
        amplitude_spread: standard deviation of ln amplitude from image to image.
        noise: of a reading, and of what is finer than anchors resolve, as a share of the amplitude.
        dof: degrees of freedom of the Student-t distribution of inliers; fewer tolerate larger residuals.
        slope_std: relative standard deviation of the trend's contrast.
        prior_clean: prior probability that there is no outlier.
        prior_inliers: Beta prior of the share of inliers, as a number of readings; with the next, 80 %, worth ten.
        prior_outliers: the same for outliers.
        majority: share of inliers below which a hypothesis is penalised.
        majority_penalty: of its log evidence, per unit of share: at 60, a hypothesis with half of the readings as
            inliers must be 20 times as likely (e³) as one with 55 %.
        max_starts: of the multi-start initialisation.
    """

    amplitude: float = 0.22
    amplitude_without_relative: float = 0.5
    amplitude_spread: float = 0.6
    noise: float = 0.25
    dof: float = 5.0
    slope_std: float = 0.15
    prior_clean: float = 0.5
    prior_inliers: float = 8.0
    prior_outliers: float = 2.0
    majority: float = 0.55
    majority_penalty: float = 60.0
    max_starts: int = 8

    def __post_init__(self) -> None:
        bounded = {"prior_clean", "majority", "dof", "majority_penalty", "max_starts"}
        check_numbers(self, 1e-4, 1e6, only=tuple(f.name for f in fields(MixtureOptions) if f.name not in bounded))
        check_numbers(self, 1e-4, 0.9999, only=("prior_clean", "majority"))
        check_numbers(self, 2.1, 1e3, only=("dof",))
        check_numbers(self, 0.0, 1e6, only=("majority_penalty",))
        check_numbers(self, 1, 1000, only=("max_starts",))


class State(NamedTuple):
    """S hypotheses between rounds of EM.

    Attributes:
        amplitude: (S,) of the process.
        inlier: (S, K) inlier probabilities.
        temperature: (S,) factor on the variance of inliers, annealed towards 1.
        share: (S,) of inliers.
        kinds: (S, C) share of each kind among the outliers.
    """

    amplitude: FloatArray
    inlier: FloatArray
    temperature: FloatArray
    share: FloatArray
    kinds: FloatArray


class Outcome(NamedTuple):
    """S hypotheses after EM: log evidence (S,), residuals and variances (S, K), density of each kind (S, C, K)."""

    state: State
    evidence: FloatArray
    residual: FloatArray
    var: FloatArray
    kinds: FloatArray


class Judgement(NamedTuple):
    """The model's result for K readings.

    Attributes:
        inlier: (K,) inlier probability.
        residual: (K,) ln z less its leave-one-out prediction.
        std: (K,) of that, for an inlier.
        explained: (K,) share of the process's variance that the other readings explain: 0 where none is near.
        kind: (K,) the likeliest of `KINDS`, if it is an outlier.
    """

    inlier: FloatArray
    residual: FloatArray
    std: FloatArray
    explained: FloatArray
    kind: NDArray[np.intp]


class MixtureModel:
    """K log readings around S trends, with all that stays the same from round to round.

    Args:
        log_z: (K,).
        trends_SK: log depth up to a shift.
        features_KF: of the readings.
        repeated: (K,) whether a reading's value is shared by many: only then is there a sentinel among the kinds.
        options: of the mixture.
        amplitude: of the process, in log depth: the mode of its prior.

    Attributes:
        error: (S, K) log reading less trend, less the median of that.
        kind_counts: (C,) Dirichlet prior of the kinds, in readings.
        problem: the same for compiled kernels.
    """

    def __init__(
        self,
        log_z: FloatArray,
        trends_SK: FloatArray,
        features_KF: FloatArray,
        repeated: BoolArray,
        options: MixtureOptions,
        amplitude: float,
    ) -> None:
        self.options, self.amplitude = options, amplitude
        self.log_z, self.repeated, self.features = log_z, repeated, features_KF
        error = log_z - trends_SK
        self.error = error - np.median(error, axis=1, keepdims=True)
        z_m = np.exp(log_z)
        self.kind_counts = np.array(_KIND_COUNTS[: len(KINDS) if repeated.any() else len(KINDS) - 1])
        self.problem = Problem(
            smooth=covariance(features_KF),
            contrast=trends_SK - trends_SK.mean(axis=1, keepdims=True),
            error=self.error,
            in_range=z_m / max(float(np.ptp(z_m)), 1e-3 * float(z_m.max())),
            sentinel=np.where(repeated, _SENTINEL, _FLOOR),
            kind_counts=self.kind_counts,
            clusters=dense_clusters(features_KF[:, :2]),
            numbers=_numbers(options),
        )

    def em(self, state: State, which: NDArray[np.intp], num_rounds: int) -> Outcome:
        """Rounds of EM on hypotheses that start from the trends `which` (S,)."""
        (S, K), C = state.inlier.shape, self.kind_counts.size
        inlier, temperature, share, kinds = (np.array(part) for part in state[1:])
        residual, var = np.empty((2, S, K))
        rows = Rows(inlier, temperature, share, kinds, np.empty(S), residual, var, np.empty((S, C, K)))

        def some(first: int, last: int) -> None:
            part = Rows(*(each[first:last] for each in rows))
            run(self.problem, which[first:last], state.amplitude[first:last], num_rounds, part)

        self._for_hypotheses(S, num_rounds, some)
        found = State(state.amplitude, inlier, temperature, share, kinds)
        return Outcome(found, rows.evidence, residual, var, rows.densities)

    def evidence_without_outliers(self, which: NDArray[np.intp], amplitude: FloatArray) -> FloatArray:
        """(S,) log evidence of hypotheses without outliers, priors of the shares at their mode."""
        K, counts, options = self.error.shape[1], self.kind_counts, self.options
        each = np.empty(which.size)

        def some(first: int, last: int) -> None:
            part = slice(first, last)
            log_densities_of_inliers(self.problem, which[part], amplitude[part], each[part])

        self._for_hypotheses(which.size, 1, some)
        share = (K + options.prior_inliers) / (K + options.prior_inliers + options.prior_outliers)
        log_prior = (K + options.prior_inliers) * math.log(share) + options.prior_outliers * math.log1p(-share)
        return np.asarray(each + log_prior + counts @ np.log(counts / counts.sum()))

    def _for_hypotheses(self, num: int, num_rounds: int, work: Callable[[int, int], None]) -> None:
        if num * num_rounds * self.error.shape[1] ** 3 < _WORTH_A_THREAD:
            work(0, num)
        else:
            for_each_span(num, work)


def _numbers(options: MixtureOptions) -> Numbers:
    """As compiled kernels take them: not as globals, which would be frozen at the first compilation."""
    return Numbers(
        noise=float(options.noise),
        dof=float(options.dof),
        log_t=student_t_constant(options.dof),
        prior_inliers=float(options.prior_inliers),
        prior_outliers=float(options.prior_outliers),
        majority=float(options.majority),
        majority_penalty=float(options.majority_penalty),
        shift_var=_SHIFT_STD**2,
        slope_var=float(options.slope_std) ** 2,
        near=_NEAR,
        far=_FAR,
        anywhere=_ANYWHERE,
        floor=_FLOOR,
        min_inlier=_MIN_INLIER,
        min_var=_MIN_VAR,
        cooling=_COOLING,
    )


def repeated_values(z_m: FloatArray) -> BoolArray:
    """(K,) whether a reading's value, to a tenth of a millimetre, occurs so often that it may be a sentinel."""
    rounded = np.round(z_m * PER_TENTH_MILLIMETRE)
    ordered = np.sort(rounded)

    def num_between(low: FloatArray, high: FloatArray) -> NDArray[np.intp]:
        return np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low, "left")

    same = num_between(rounded, rounded)
    times, within = _SENTINEL_ALONE
    similar = num_between(rounded * (1.0 - within), rounded * (1.0 + within)) - same
    return np.asarray((same >= max(_SENTINEL_COUNT, _SENTINEL_SHARE * z_m.size)) & (same > times * similar))


def dense_clusters(positions_K2: FloatArray) -> Blocks:
    """Readings in places where readings are dense, from (K, 2) positions in length scales, and those around them."""
    distance = distances(positions_K2)
    near = distance < _CLUSTER_RADIUS
    area = max(float(np.prod(np.ptp(positions_K2, axis=0))), 1e-3)
    times, more = _DENSE
    limit = times * len(near) * math.pi * _CLUSTER_RADIUS**2 / area + more
    count = near.sum(axis=1)
    dense = np.flatnonzero(count > limit)
    distance[dense, dense] = -1.0  # each is the first of its own
    order = np.argsort(distance[dense], axis=1, kind="stable")
    return Blocks.of([nearest[: min(int(count[i]), _MAX_LEFT_OUT)] for i, nearest in zip(dense, order, strict=True)])


def reasons(keep: BoolArray, judged: Judgement, has_relative: bool) -> TextArray:
    """(K,) one word each: how a reading that is not kept differs from its neighbours, or from relative depth."""
    side = np.where(judged.residual < 0.0, "nearer_than_neighbours", "farther_than_neighbours")
    if has_relative:  # prior-dominated: few nearby anchors, so that the relative depth decided
        side = np.where(judged.explained < _EXPLAINED, "contradicts_relative_depth", side)
    outlier = np.where(judged.kind == KINDS.index("sentinel"), "repeated_value", side)
    return np.where(keep, "consistent", outlier)

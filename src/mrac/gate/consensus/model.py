"""Mixture model of inliers and outliers: a Gaussian process with Student-t noise, and broad outlier densities.

An inlier is ln z = trend + g + noise, g a Gaussian process over the features of `mrac.gp`: a foundation's error is
smooth within a surface, so neighbouring readings predict each other better than one line through all of them does. An
outlier is nearer than its neighbours by a factor (multipath), farther (a beam that passes an edge), anywhere in the
range of the readings, anywhere at all, or equal to a value that many readings share (a sentinel). The shares of inliers
and of each kind of outlier are estimated from the readings. Inlier probabilities and the field are found in turn (EM);
each reading is compared with the field of the others, and inside a dense cluster with the field of those outside it.
"""

import math
from dataclasses import dataclass, fields
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray, TextArray
from mrac.gp.kernel import ProcessOptions, covariance, distances
from mrac.gp.linear_algebra import invert, leave_one_out, student_t_log_density
from mrac.registry import check_numbers

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

Clusters = list[tuple[int, NDArray[np.intp]]]
"""Readings that lie in a dense cluster, each with the members around it, itself included."""


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


class NoiseVar(NamedTuple):
    """Noise variance of each reading at its inlier probability (S, K), and of an inlier (S, 1)."""

    weighted: FloatArray
    inlier: FloatArray

    def if_inlier(self, var: FloatArray) -> FloatArray:
        """(S, K) variance of the residual of a reading if it is an inlier, from `var`, which has its weighted noise."""
        return np.asarray(np.maximum(var - self.weighted, _MIN_VAR) + self.inlier)


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
        self._smooth_KK, self._clusters = covariance(features_KF), dense_clusters(features_KF[:, :2])
        error = log_z - trends_SK
        self.error = error - np.median(error, axis=1, keepdims=True)
        contrast = trends_SK - trends_SK.mean(axis=1, keepdims=True)
        self._common = _SHIFT_STD**2 + options.slope_std**2 * contrast[:, :, None] * contrast[:, None, :]
        z_m = np.exp(log_z)
        self._in_range = z_m / max(float(np.ptp(z_m)), 1e-3 * float(z_m.max()))
        self._sentinel = np.where(repeated, _SENTINEL, _FLOOR)
        self.kind_counts = np.array(_KIND_COUNTS[: len(KINDS) if repeated.any() else len(KINDS) - 1])

    def covariance(
        self, which: NDArray[np.intp], amplitude: FloatArray, inlier: FloatArray
    ) -> tuple[FloatArray, NoiseVar]:
        """(S, K, K) of the readings, of inlier probabilities (S, K), and the noise that is in it."""
        noise_var = ((self.options.noise * amplitude) ** 2)[:, None]
        weighted = noise_var / np.maximum(inlier, _MIN_INLIER)
        total = (amplitude**2)[:, None, None] * self._smooth_KK + self._common[which]
        diagonal = np.arange(inlier.shape[1])
        total[:, diagonal, diagonal] += weighted
        return total, NoiseVar(weighted, noise_var)

    def outlier_densities(self, residual_SK: FloatArray) -> FloatArray:
        """(S, C, K) density of ln z of each kind of outlier; residuals are against the field of the others."""
        near, far, anywhere = (_uniform(residual_SK, *limits) for limits in (_NEAR, _FAR, (-_ANYWHERE, _ANYWHERE)))
        in_range, sentinel = (np.broadcast_to(part, residual_SK.shape) for part in (self._in_range, self._sentinel))
        return np.stack([near, far, in_range, anywhere, sentinel], axis=1)[:, : self.kind_counts.size]

    def em(self, state: State, which: NDArray[np.intp], num_rounds: int) -> Outcome:
        """Rounds of EM on hypotheses that start from the trends `which` (S,)."""
        amplitude, inlier, temperature, share, kinds = state
        options, counts, K = self.options, self.kind_counts, inlier.shape[1]
        inliers, outliers = options.prior_inliers, options.prior_outliers
        for _ in range(num_rounds):
            residual, var = self._leave_one_out(which, amplitude, inlier)
            is_inlier = share[:, None] * np.exp(
                student_t_log_density(residual, var * temperature[:, None], options.dof)
            )
            kinds_SCK = kinds[:, :, None] * self.outlier_densities(residual)
            is_outlier = kinds_SCK.sum(axis=1)
            density = is_inlier + (1.0 - share)[:, None] * is_outlier
            inlier = is_inlier / density
            count_SC = (kinds_SCK / is_outlier[:, None] * (1.0 - inlier)[:, None]).sum(axis=2)
            kinds = (count_SC + counts) / (count_SC.sum(axis=1, keepdims=True) + counts.sum())
            share = (inlier.sum(axis=1) + inliers) / (K + inliers + outliers)
            temperature = np.maximum(1.0, temperature * _COOLING)
        # With the priors of the shares, and a penalty on minorities: 40 % of the readings that are wrong by one factor
        # must not win because they agree with each other a little better than the others do.
        log_prior = (
            options.prior_inliers * np.log(share) + options.prior_outliers * np.log1p(-share) + np.log(kinds) @ counts
        )
        log_prior += options.majority_penalty * np.minimum(share - options.majority, 0.0)
        evidence = np.log(density).sum(axis=1) + log_prior
        return Outcome(State(amplitude, inlier, temperature, share, kinds), evidence, residual, var, kinds_SCK)

    def evidence_without_outliers(self, which: NDArray[np.intp], amplitude: FloatArray) -> FloatArray:
        """(S,) log evidence of hypotheses without outliers, priors of the shares at their mode."""
        K, counts, options = self.error.shape[1], self.kind_counts, self.options
        residual, var = self._leave_one_out(which, amplitude, np.ones((len(which), K)))
        share = (K + options.prior_inliers) / (K + options.prior_inliers + options.prior_outliers)
        log_prior = (K + options.prior_inliers) * math.log(share) + options.prior_outliers * math.log1p(-share)
        each = student_t_log_density(residual, var, options.dof).sum(axis=1)
        return np.asarray(each + log_prior + counts @ np.log(counts / counts.sum()))

    def _leave_one_out(
        self, which: NDArray[np.intp], amplitude: FloatArray, inlier: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """(S, K) residual of each reading given the others, and its variance if it is an inlier."""
        total, noise = self.covariance(which, amplitude, inlier)
        residual, var = leave_cluster_out(total, self.error[which], self._clusters)
        return residual, noise.if_inlier(var)


def repeated_values(z_m: FloatArray) -> BoolArray:
    """(K,) whether a reading's value, to a tenth of a millimetre, occurs so often that it may be a sentinel."""
    _, place, count = np.unique(np.round(z_m, 4), return_inverse=True, return_counts=True)
    return np.asarray(count[place] >= max(_SENTINEL_COUNT, _SENTINEL_SHARE * z_m.size))


def dense_clusters(positions_K2: FloatArray) -> Clusters:
    """Readings in places where readings are dense, from (K, 2) positions in length scales."""
    distance = distances(positions_K2)
    near = distance < _CLUSTER_RADIUS
    area = max(float(np.prod(np.ptp(positions_K2, axis=0))), 1e-3)
    times, more = _DENSE
    limit = times * len(near) * math.pi * _CLUSTER_RADIUS**2 / area + more
    count = near.sum(axis=1)
    dense = np.flatnonzero(count > limit)
    order = np.argsort(distance[dense], axis=1, kind="stable")
    return [(int(i), nearest[: min(int(count[i]), _MAX_LEFT_OUT)]) for i, nearest in zip(dense, order, strict=True)]


def leave_cluster_out(total_SKK: FloatArray, error_SK: FloatArray, clusters: Clusters) -> tuple[FloatArray, FloatArray]:
    """(S, K) residual of each reading given the others, in a cluster given those outside it, and its variance.

    The covariances `total_SKK` are overwritten. A block of their inverse, inverted, is the covariance of that block
    given the rest (Rasmussen & Williams 2006, eqs. 5.10–5.12).
    """
    inverse = invert(total_SKK)
    residual, var, solved = leave_one_out(inverse, error_SK)
    for i, members in clusters:
        block = np.linalg.inv(inverse[:, members[:, None], members])
        own = members.tolist().index(i)
        residual[:, i] = (block[:, own] * solved[:, members]).sum(axis=1)
        var[:, i] = block[:, own, own]
    return residual, var


def _uniform(residual: FloatArray, low: float, high: float) -> FloatArray:
    return np.where((residual > low) & (residual < high), 1.0 / (high - low), _FLOOR)


def reasons(keep: BoolArray, judged: Judgement, has_relative: bool) -> TextArray:
    """(K,) one word each: how a reading that is not kept differs from its neighbours, or from relative depth."""
    side = np.where(judged.residual < 0.0, "nearer_than_neighbours", "farther_than_neighbours")
    if has_relative:  # prior-dominated: few nearby anchors, so that the relative depth decided
        side = np.where(judged.explained < _EXPLAINED, "contradicts_relative_depth", side)
    outlier = np.where(judged.kind == KINDS.index("sentinel"), "repeated_value", side)
    return np.where(keep, "consistent", outlier)

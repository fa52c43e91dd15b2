"""Our gate: every reading is judged by its neighbours, by the image and by what wrong readings look like."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray, TextArray
from mrac.gate._base import Gate, unjudged
from mrac.gate._hypotheses import Starts, log_trends, shifts_of
from mrac.gate._mixture import KINDS, Beliefs, Judged, covariance, evidence_of_all_right, judge
from mrac.options import check_numbers
from mrac.types import WORST_SCORE, GateResult, Samples

_TOGETHER: Final = 160  # readings judged together; more are dealt into groups that each span the image
_LEAST: Final = 1e-3  # probability of being right that is worth a weight
_SENTINEL_COUNT: Final = 4  # how often a value must repeat to be suspect
_SENTINEL_SHARE: Final = 0.06  # and in which share of the readings


@dataclass(frozen=True, kw_only=True)
class Consensus(Gate):
    """Gives each reading a probability of being wrong, which becomes its weight; see `_mixture` for the model.

    The chance that nothing is wrong at all is weighed too: where it is likely, every reading is kept, and trusted.
    The defaults were set on training images whose relative depth came from networks that had not seen them.

    Attributes:
        amplitude: standard deviation of the foundation's smooth error, in log depth.
        amplitude_alone: the same of log depth itself, where there is no foundation.
        noise: of a reading, as a share of the amplitude.
        position_length: how far neighbours are heard, as a share of the image's shorter side.
        relative_length: the same in relative depth, as a share of its range.
        slope_std: how far the trend's contrast may be off, relatively.
        prior_clean: probability that no reading is wrong, before any is seen.
    """

    amplitude: float = 0.22
    amplitude_alone: float = 0.5
    noise: float = 0.3
    position_length: float = 1.6
    relative_length: float = 0.8
    slope_std: float = 0.15
    prior_clean: float = 0.5

    def __post_init__(self) -> None:
        check_numbers(self, 1e-4, 1e6)
        check_numbers(self, 1e-4, 0.9999, only=("prior_clean",))

    def __call__(self, samples: Samples) -> GateResult:
        """See `Gate`."""
        K = len(samples)
        if K < 3:
            return unjudged(K, "too_few_anchors")
        log_z, features, repeated = np.log(samples.z_m), self._features(samples), _repeated(samples.z_m)
        groups, beliefs = _groups(K), self._beliefs(samples)
        trends = log_trends(samples, groups[0])
        right, residual, std = np.zeros((3, K))
        kind = np.zeros(K, np.intp)
        settled: tuple[int, float] | None = None  # which trend, at which shift, the first group found
        for group in groups:
            starts = _starts(log_z[group], trends[:, group], settled)
            smooth = covariance(features[group])
            judged = judge(log_z[group], starts, smooth, repeated[group], beliefs)
            clean = self._clean(evidence_of_all_right(log_z[group], starts.trends[0], smooth, beliefs), judged)
            right[group] = clean + (1.0 - clean) * judged.right
            residual[group], std[group], kind[group] = judged.residual, judged.std, judged.kind
            if settled is None:
                which = max(judged.start - 1, 0) if len(trends) > 1 else 0
                off = (log_z - trends[which])[group]
                settled = which, float(np.median(off[right[group] >= np.median(right[group])]))
        keep = right >= 0.5
        score = np.minimum(np.abs(residual) / std, WORST_SCORE)
        return GateResult(keep, score, _reasons(keep, residual, kind), np.where(right > _LEAST, right, 0.0))

    def _beliefs(self, samples: Samples) -> Beliefs:
        amplitude = self.amplitude_alone if samples.x is None else self.amplitude
        return Beliefs(amplitude, self.noise, self.slope_std, right=8.0, wrong=2.0, least=0.7, held=10.0)

    def _features(self, samples: Samples) -> FloatArray:
        """(K, 2 or 3) positions and relative depth, each in its length scales."""
        spans = np.ptp(samples.uv_px, axis=0)
        # A gate does not know the image; the readings span most of it, unless they lie on a line.
        side = max(0.85 * math.sqrt(spans[0] * spans[1]), 0.3 * float(spans.max()), 1.0)
        features = [samples.uv_px / (self.position_length * side)]
        if samples.x is not None:
            low, high = np.percentile(samples.x, [2.0, 98.0])
            features.append(((samples.x - low) / max(1.15 * self.relative_length * (high - low), 1e-30))[:, None])
        return np.clip(np.concatenate(features, axis=1), -1e6, 1e6)

    def _clean(self, all_right: float, judged: Judged) -> float:
        """Probability that nothing is wrong, from the two evidences."""
        odds = judged.evidence - all_right + math.log((1.0 - self.prior_clean) / self.prior_clean)
        return 1.0 / (1.0 + math.exp(min(max(odds, -50.0), 50.0)))


def _starts(log_z: FloatArray, trends_TK: FloatArray, settled: tuple[int, float] | None) -> Starts:
    """For one group of readings: from all guesses, or, once a group has settled, from where it did."""
    if settled is not None:
        which, shift = settled
        return Starts.around(trends_TK[which : which + 1], log_z, np.array([shift]))
    if len(trends_TK) > 1:
        return Starts.around(trends_TK, log_z, np.zeros(len(trends_TK)))
    shifts = shifts_of(log_z, trends_TK[0])
    return Starts.around(np.repeat(trends_TK, len(shifts), axis=0), log_z, shifts)


def _groups(num: int) -> list[NDArray[np.intp]]:
    """All readings, dealt at random into groups that each span the image; one group where they are few."""
    num_groups = -(-num // _TOGETHER)
    if num_groups == 1:
        return [np.arange(num)]
    return np.array_split(np.random.default_rng(0).permutation(num), num_groups)


def _repeated(z_m: FloatArray) -> BoolArray:
    """(K,) whether a reading's value, to a tenth of a millimetre, comes so often that it may be a sentinel."""
    _, place, count = np.unique(np.round(z_m, 4), return_inverse=True, return_counts=True)
    return np.asarray(count[place] >= max(_SENTINEL_COUNT, _SENTINEL_SHARE * z_m.size))


def _reasons(keep: BoolArray, residual: FloatArray, kind: NDArray[np.intp]) -> TextArray:
    side = np.where(residual < 0.0, "nearer_than_surroundings", "farther_than_surroundings")
    wrong = np.where(kind == KINDS.index("sentinel"), "repeated_value", side)
    return np.where(keep, "consistent", wrong)


IMPLEMENTATION = Consensus

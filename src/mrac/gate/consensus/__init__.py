"""Our gate: every reading is judged by its neighbours, by the image and by what wrong readings look like."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray, TextArray
from mrac.gate.base import Gate, unjudged
from mrac.gate.consensus.initialisation import Starts, log_trends, shifts_of
from mrac.gate.consensus.model import FACTORS, Beliefs, Judged, Readings, Settled, judge
from mrac.gate.consensus.outlier_densities import KINDS
from mrac.gp.features import Lengths
from mrac.gp.without_image import places
from mrac.options import check_numbers
from mrac.runtime.parallel import map_spans
from mrac.types import WORST_SCORE, GateResult, Samples

_TOGETHER: Final = 160  # readings judged together; more are dealt into groups that each span the image
LEAST: Final = 1e-3  # probability of being right that is worth a weight
_SENTINEL_COUNT: Final = 4  # how often a value must repeat to be suspect
_SENTINEL_SHARE: Final = 0.06  # and in which share of the readings
_KNOWN: Final = 0.5  # of the field's variance that neighbours must take away to be called surroundings


class Part(NamedTuple):
    """Readings that were judged together, and what came of it.

    Attributes:
        readings: around the trends they were judged by.
        judged: each of them.
        settled: the hypothesis that won.
        beside: (K, 2) by how much the least and the largest log depth around each differ from its own, in the trend of
            that hypothesis; zeros where nobody looked.
    """

    readings: Readings
    judged: Judged
    settled: Settled
    beside: FloatArray


@dataclass(frozen=True, kw_only=True)
class Consensus(Gate):
    """Gives each reading a probability of being wrong, which becomes its weight; see `_mixture` for the model.

    Neighbours are those of the kriging head: near each other, on one surface as far as colour edges tell, of like
    colour and of like relative depth. The chance that nothing is wrong at all is weighed too: where it is likely, every
    reading is kept, and trusted. The defaults were set on training images whose relative depth came from networks that
    had not seen them, half of them turned upside down, which no network had seen.

    Attributes:
        amplitude: standard deviation of the foundation's smooth error, in log depth.
        amplitude_alone: the same of log depth itself, where there is no foundation.
        amplitude_spread: standard deviation of ln amplitude from image to image.
        noise: of a reading, as a share of the amplitude.
        tail: degrees of freedom of Student's distribution of right readings; fewer forgive more.
        slope_std: how far the trend's contrast may be off, relatively.
        prior_clean: probability that no reading is wrong, before any is seen.
        position_length: how far neighbours are heard, as a share of the image's shorter side, where the gate is asked
            without the image.
        relative_length: the same in relative depth, as a share of its range.
    """

    looks_at_image: ClassVar[bool] = True

    amplitude: float = 0.22
    amplitude_alone: float = 0.5
    amplitude_spread: float = 0.6
    noise: float = 0.25
    tail: float = 5.0
    slope_std: float = 0.15
    prior_clean: float = 0.5
    position_length: float = Lengths().position
    relative_length: float = Lengths().relative

    def __post_init__(self) -> None:
        check_numbers(self, 1e-4, 1e6, only=tuple(field.name for field in fields(Consensus)))
        check_numbers(self, 1e-4, 0.9999, only=("prior_clean",))
        check_numbers(self, 2.1, 1e3, only=("tail",))

    def __call__(self, samples: Samples) -> GateResult:
        """See `Gate`."""
        K = len(samples)
        if K < 3:
            return unjudged(K, "too_few_anchors")
        groups = dealt(K)
        judged = gathered([part.judged for part in self.parts(samples, groups)], groups)
        return verdict_on(samples, judged, np.where(judged.right > LEAST, judged.right, 0.0))

    def parts(self, samples: Samples, groups: Sequence[NDArray[np.intp]]) -> list[Part]:
        """What is believed of three samples or more, group by group."""
        K, log_z, repeated, beliefs = len(samples), np.log(samples.z_m), _repeated(samples.z_m), self._beliefs(samples)
        features = self._features(samples) if samples.alike is None else samples.alike.astype(np.float64)
        trends = log_trends(samples, groups[0], None if samples.beside is None else samples.beside.ravel())

        def part(group: NDArray[np.intp], starts: Starts, factors: Sequence[float]) -> Part:
            readings = Readings(log_z[group], starts.trends, features[group], repeated[group], beliefs)
            return Part(readings, *judge(readings, starts, factors), np.zeros((group.size, 2)))

        parts = [part(groups[0], _first_starts(log_z[groups[0]], trends[:, groups[0]]), FACTORS)]
        settled, right = parts[0].settled, parts[0].judged.right
        trend = trends[max(settled.start - 1, 0) if len(trends) > 1 else 0]
        if len(groups) > 1:  # what the first group found is where the others start
            shift = float(np.median((log_z - trend[:K])[groups[0]][right >= np.median(right)]))

            def rest(first: int, last: int) -> list[Part]:
                near = (
                    (group, Starts.near(trend[group], log_z[group], shift)) for group in groups[1 + first : 1 + last]
                )
                return [part(group, starts, [settled.factor]) for group, starts in near]

            parts += chain(*map_spans(len(groups) - 1, rest))
        if samples.beside is None:
            return parts
        beside = np.sort(trend[K:].reshape(K, 2) - trend[:K, None], axis=1)  # inverse depth falls as depth rises
        return [part._replace(beside=beside[group]) for part, group in zip(parts, groups, strict=True)]

    def _beliefs(self, samples: Samples) -> Beliefs:
        return Beliefs(
            amplitude=self.amplitude_alone if samples.x is None else self.amplitude,
            spread=self.amplitude_spread,
            noise=self.noise,
            tail=self.tail,
            slope_std=self.slope_std,
            right=8.0,
            wrong=2.0,
            clean=self.prior_clean,
        )

    def _features(self, samples: Samples) -> FloatArray:
        """(K, NUM_FEATURES) for want of an image."""
        low, high = (0.0, 0.0) if samples.x is None else np.percentile(samples.x, [2.0, 98.0])
        # The shorter side of a picture of 4:3 is 0.85 of the mean that `places` goes by.
        lengths = Lengths(position=0.85 * self.position_length, relative=self.relative_length)
        # Pixels reach a little farther than the readings among them.
        return places(samples.uv_px, samples.x, (float(low), float(low + 1.15 * (high - low))), lengths)


def gathered(parts: Sequence[Judged], groups: Sequence[NDArray[np.intp]]) -> Judged:
    """What each group says, put in the order of the readings."""
    order = np.argsort(np.concatenate(groups))
    return Judged(*(np.concatenate(same)[order] for same in zip(*parts, strict=True)))


def verdict_on(
    samples: Samples,
    judged: Judged,
    weight: FloatArray,
    wrong: FloatArray | None = None,
    keep: BoolArray | None = None,
) -> GateResult:
    """All (K,), as in `GateResult`; unless `keep` says otherwise, what weighs half or more is kept."""
    keep = weight >= 0.5 if keep is None else keep
    score = np.minimum(np.abs(judged.residual) / judged.std, WORST_SCORE)
    return GateResult(keep, score, _reasons(keep, judged, samples.x is not None), weight, wrong=wrong)


def _first_starts(log_z: FloatArray, trends_TK: FloatArray) -> Starts:
    if len(trends_TK) > 1:
        return Starts.around(trends_TK, log_z, np.zeros(len(trends_TK)))
    shifts = shifts_of(log_z, trends_TK[0])
    return Starts.around(np.repeat(trends_TK, len(shifts), axis=0), log_z, shifts)


def dealt(num: int) -> list[NDArray[np.intp]]:
    """All readings, dealt at random into groups that each span the image; one group where they are few."""
    num_groups = -(-num // _TOGETHER)
    if num_groups == 1:
        return [np.arange(num)]
    return np.array_split(np.random.default_rng(0).permutation(num), num_groups)


def _repeated(z_m: FloatArray) -> BoolArray:
    """(K,) whether a reading's value, to a tenth of a millimetre, comes so often that it may be a sentinel."""
    _, place, count = np.unique(np.round(z_m, 4), return_inverse=True, return_counts=True)
    return np.asarray(count[place] >= max(_SENTINEL_COUNT, _SENTINEL_SHARE * z_m.size))


def _reasons(keep: BoolArray, judged: Judged, has_relative: bool) -> TextArray:
    side = np.where(judged.residual < 0.0, "nearer_than_surroundings", "farther_than_surroundings")
    if has_relative:  # where no neighbour is near enough to say much, it was the picture that spoke
        side = np.where(judged.known < _KNOWN, "contradicts_image", side)
    wrong = np.where(judged.kind == KINDS.index("sentinel"), "repeated_value", side)
    return np.where(keep, "consistent", wrong)


IMPLEMENTATION = Consensus

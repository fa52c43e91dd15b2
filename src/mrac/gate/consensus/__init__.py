"""GP-mixture gate: outlier probabilities from neighbouring readings, the image and broad outlier densities."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray
from mrac.gate.base import Gate, unjudged
from mrac.gate.consensus.initialisation import Starts, log_trends, search
from mrac.gate.consensus.model import Judgement, MixtureModel, MixtureOptions, State, reasons, repeated_values
from mrac.gate.consensus.reading_points import bare_features, features_alone, image_features
from mrac.gate.consensus.support import Support, residual_gain
from mrac.gp.features import ImageAppearance, covered_area
from mrac.gp.kernel import FINE_VAR
from mrac.registry import check_numbers
from mrac.relative import without_relative
from mrac.runtime.parallel import map_spans
from mrac.types import INLIER_WEIGHT, WORST_SCORE, GateResult, Samples

_GROUP_SIZE: Final = 160  # readings judged together; more are divided into groups that each span the image
FACTORS: Final = (0.12, 0.32, 0.5, 0.77, 1.23, 1.9)  # amplitudes that are averaged over, relative to the prior one
_ROUNDS: Final = 5  # of EM, for the hypotheses that the search found
# The same where another group has found start and amplitude: three more change one verdict in 250, to no gain.
_FOLLOWING_ROUNDS: Final = 4
_TEMPERATURE: Final = 2.0  # at most, when these rounds begin
# Of the model without relative depth, when it is compared: fewer hypotheses, since there is no slope to search for.
_STARTS_ALONE: Final = 1
_FACTORS_ALONE: Final = (0.05, 0.2, 0.55, 1.2)  # a bare wall has next to no amplitude
# Inlier probability from which a reading is kept without relative depth, where it is too low: at 0.2 half are right.
_KEPT_ALONE: Final = 0.3


class Hypothesis(NamedTuple):
    """The hypothesis with the highest evidence.

    Attributes:
        start: its number among the starts.
        factor: its amplitude as one of `FACTORS`.
        amplitude: the same in log depth.
        share: of inliers.
        log_odds: log evidence of "some are outliers" over "none is", averaged over all hypotheses.
        evidence: log evidence of all hypotheses, averaged over their amplitudes, each as likely as any other.
    """

    start: int
    factor: float
    amplitude: float
    share: float
    log_odds: float
    evidence: float


class Group(NamedTuple):
    """Readings that were judged together, and the result.

    Attributes:
        model: of these readings.
        judgement: on each of them.
        best: the best hypothesis.
        local_range: (K, 2) least and largest log depth around each reading, relative to its own, in the trend of that
            hypothesis; zeros where it was not asked for.
    """

    model: MixtureModel
    judgement: Judgement
    best: Hypothesis
    local_range: FloatArray


@dataclass(frozen=True, kw_only=True)
class Consensus(MixtureOptions, Gate):
    """Gives each reading an outlier probability by a Gaussian-process mixture; see `model`. The weight is 1 − that.

    Readings predict each other through the kernel of the kriging head: position, edge-aware region, colour and relative
    depth. The hypothesis that there is no outlier at all competes: where it is likely, all weights are near 1. Options
    are those of `MixtureOptions`; their defaults were set on training images whose relative depth came from networks
    that had not seen them, half of them turned upside down, which no network had seen.

    Relative depth is used only where the readings support it: the model with it is compared with the one without it by
    log evidence. On 85 training frames of scenes that the network had not seen, 50 readings over the image gave it more
    than 1 in 98 % of the draws, clean and 25 % near; white noise in its place in none, smooth noise in 8 %, the field
    of another image in half. With less than is needed (`support`) the verdicts are those without relative depth, fit
    and head do without it too, and the status is `foundation_disagrees`.

    Attributes:
        min_evidence: by so much, in log evidence, relative depth must improve the model of 50 inliers or more. The
            fewer the readings and the more of them outliers, the less is asked: 0 from 10 inliers more than outliers.
            Below zero it is the same for any number; −1e6 always uses relative depth. More is asked for where residuals
            hardly fall with it. Readings in less than half the image must contradict it: by up to 20, in one row.
    """

    min_evidence: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, -1e6, 1e6, only=("min_evidence",))

    def judge(
        self, samples: Samples, image: ImageAppearance | None = None, relative: FloatArray | None = None
    ) -> GateResult:
        """See `Gate`."""
        seen = image_features(samples, image, relative)
        if len(samples) < 3:
            return replace(unjudged(len(samples), "too_few_anchors"), features=seen)
        groups = divided(len(samples))
        parts = self.judge_groups(samples, groups, seen)
        if alone := self.judge_alone(samples, groups, seen, parts[0], image):
            return alone
        judged = in_order([group.judgement for group in parts], groups)
        return self.verdict(samples, judged, judged.inlier, features=seen)

    def prepare(self, samples: Samples, image: ImageAppearance) -> None:
        """See `Gate`: computes the model without relative depth, which is compared with the one with it."""
        features = image_features(samples, image, None)
        if features is not None and 3 <= len(samples) <= _GROUP_SIZE:
            asked = np.log(samples.z_m), features.astype(np.float64), repeated_values(samples.z_m)
            image.kept[self._key(*asked)] = self._model_alone(*asked)

    def judge_alone(
        self,
        samples: Samples,
        groups: Sequence[NDArray[np.intp]],
        features: FloatArray | None,
        first: Group,
        image: ImageAppearance | None = None,
    ) -> GateResult | None:
        """The verdicts without relative depth if the readings contradict it or it is constant; None where it is used.

        Args:
            samples: three or more.
            groups: their indices, dealt into groups.
            features: (K, NUM_FEATURES) from the image, or None.
            first: the result of the first group, with relative depth.
            image: with which `prepare` may have kept the model without relative depth.
        """
        if samples.x is None:
            return None
        if not samples.flat and self.support(first, len(samples), image).suffices(self.min_evidence):
            return None
        bare, features = without_relative(samples), None if features is None else bare_features(features)
        judged = in_order([group.judgement for group in self.judge_groups(bare, groups, features)], groups)
        status = "constant_relative_depth" if samples.flat else "foundation_disagrees"
        result = self.verdict(bare, judged, judged.inlier, features=features)
        return replace(result, status=status, use_relative=False)

    def support(self, first: Group, num: int, image: ImageAppearance | None = None) -> Support:
        """What the first group of `num` readings says of relative depth, with which it was judged."""
        asked = first.model.log_z, bare_features(first.model.features), first.model.repeated
        kept = None if image is None else image.kept.get(self._key(*asked))
        judged, best = self._model_alone(*asked) if kept is None else kept
        return Support(
            added_evidence=first.best.evidence - best.evidence,
            residual_gain=residual_gain(first.judgement.residual, judged.residual),
            majority=num * (2.0 * first.best.share - 1.0),
            area=covered_area(first.model.features[:, :2]),
        )

    def _model_alone(
        self, log_z: FloatArray, features: FloatArray, repeated: BoolArray
    ) -> tuple[Judgement, Hypothesis]:
        """The model without relative depth of K readings."""
        starts = Starts.of(np.zeros((1, log_z.size)), log_z, _STARTS_ALONE)
        model = MixtureModel(log_z, starts.trends, features, repeated, self, self.amplitude_without_relative)
        return average_hypotheses(model, starts, _FACTORS_ALONE)

    def _key(self, *asked: FloatArray | BoolArray) -> tuple[object, ...]:
        return self, *(part.tobytes() for part in asked)

    def judge_groups(
        self,
        samples: Samples,
        groups: Sequence[NDArray[np.intp]],
        features: FloatArray | None,
        local_range: FloatArray | None = None,
    ) -> list[Group]:
        """The model's results on three samples or more, group by group.

        Args:
            samples: K of them.
            groups: their indices, dealt into groups.
            features: (K, NUM_FEATURES) from the image; None takes those of position and relative depth alone.
            local_range: (K, 2) least and largest relative depth around each, or None.
        """
        K, log_z, repeated = len(samples), np.log(samples.z_m), repeated_values(samples.z_m)
        amplitude = self.amplitude_without_relative if samples.x is None else self.amplitude
        features = features_alone(samples) if features is None else features.astype(np.float64)
        more_x = None if local_range is None else local_range.ravel()
        trends = log_trends(samples, groups[0], self.max_starts, more_x)

        def judged(members: NDArray[np.intp], starts: Starts, factors: Sequence[float]) -> Group:
            model = MixtureModel(log_z[members], starts.trends, features[members], repeated[members], self, amplitude)
            return Group(model, *average_hypotheses(model, starts, factors), np.zeros((members.size, 2)))

        starts = Starts.of(trends[:, groups[0]], log_z[groups[0]], self.max_starts)
        first = judged(groups[0], starts, FACTORS)
        best, inlier = first.best, first.judgement.inlier
        trend = trends[starts.candidate[best.start]]
        results = [first]
        if len(groups) > 1:  # the others start from what the first group found
            shift = float(np.median((log_z - trend[:K])[groups[0]][inlier >= np.median(inlier)]))

            def rest(start: int, stop: int) -> list[Group]:
                return [
                    judged(members, Starts.single(trend[members], log_z[members], shift), [best.factor])
                    for members in groups[1 + start : 1 + stop]
                ]

            results += chain(*map_spans(len(groups) - 1, rest))
        if local_range is None:
            return results
        around = np.sort(trend[K:].reshape(K, 2) - trend[:K, None], axis=1)  # inverse depth falls as depth rises
        return [one._replace(local_range=around[members]) for one, members in zip(results, groups, strict=True)]

    def verdict(
        self,
        samples: Samples,
        judged: Judgement,
        weight: FloatArray,
        *,
        features: FloatArray | None,
        outlier_probability: FloatArray | None = None,
        keep: BoolArray | None = None,
    ) -> GateResult:
        """All (K,), as in `GateResult`; `keep` and the probability by the weight, unless both are given."""
        if keep is None:
            keep = weight >= (_KEPT_ALONE if samples.x is None else INLIER_WEIGHT)
            outlier_probability = 1.0 - weight
        score = np.minimum(np.abs(judged.residual) / judged.std, WORST_SCORE)
        reason = reasons(keep, judged, samples.x is not None)
        return GateResult(keep, score, reason, weight, outlier_probability=outlier_probability, features=features)


def average_hypotheses(model: MixtureModel, starts: Starts, factors: Sequence[float]) -> tuple[Judgement, Hypothesis]:
    """Inlier probabilities from all starts at several amplitudes, averaged by evidence.

    How good a foundation is differs from image to image by a factor of five, so the best starts are carried on at
    several amplitudes.

    Args:
        model: of the readings around the trends of the starts.
        starts: S of them; a single one is carried on as it is.
        factors: amplitudes to try, relative to the prior one.
    """
    options, A = model.options, len(factors)
    state, start, carried_on = search(model, starts)
    carried, factor = np.repeat(carried_on, A), np.tile(np.array(factors), len(carried_on))
    which, amplitude = start[carried], model.amplitude * factor
    log_prior = -0.5 * (np.log(factor) / options.amplitude_spread) ** 2
    state = State(amplitude, *(part[carried] for part in state[1:]))
    num_rounds = _ROUNDS if len(starts.temperature) > 1 else _FOLLOWING_ROUNDS
    out = model.em(state._replace(temperature=np.minimum(state.temperature, _TEMPERATURE)), which, num_rounds)
    evidence = (out.evidence + log_prior).reshape(-1, A)
    without = (model.evidence_without_outliers(which, amplitude) + log_prior).reshape(-1, A)
    # Of each amplitude the best start counts, so that copies of one hypothesis do not add up.
    rows = A * evidence.argmax(axis=0) + np.arange(A)
    weight = np.exp(evidence.max(axis=0) - evidence.max())
    some, none = (np.logaddexp.reduce(each.max(axis=0)) for each in (evidence, without))
    log_odds = some - none
    clean = 1.0 / (1.0 + math.exp(min(max(log_odds + math.log(1.0 / options.prior_clean - 1.0), -50.0), 50.0)))
    top = int(rows[weight.argmax()])
    field_var = out.var[top] - (options.noise * amplitude[top]) ** 2
    judged = Judgement(
        inlier=clean + (1.0 - clean) * (weight / weight.sum()) @ out.state.inlier[rows],
        residual=out.residual[top],
        std=np.sqrt(out.var[top]),
        explained=np.clip(1.0 - field_var / (amplitude[top] ** 2 * (1.0 + FINE_VAR)), 0.0, 1.0),
        kind=out.kinds[top].argmax(axis=0),
    )
    share = float(out.state.share[top])
    # Without the prior of the amplitude: what a scene is like that no network describes, nobody knows before.
    plain = [np.logaddexp.reduce((each - log_prior[:A]).max(axis=0)) for each in (evidence, without)]
    total = np.logaddexp(*plain) - math.log(A)
    best = Hypothesis(int(which[top]), float(factor[top]), float(amplitude[top]), share, float(log_odds), float(total))
    return judged, best


def divided(num: int) -> list[NDArray[np.intp]]:
    """All readings, divided at random into groups that each span the image; one group where they are few."""
    num_groups = -(-num // _GROUP_SIZE)
    if num_groups == 1:
        return [np.arange(num)]
    return np.array_split(np.random.default_rng(0).permutation(num), num_groups)


def in_order(parts: Sequence[Judgement], groups: Sequence[NDArray[np.intp]]) -> Judgement:
    """The results of the groups in the order of the readings."""
    order = np.argsort(np.concatenate(groups))
    return Judgement(*(np.concatenate(same)[order] for same in zip(*parts, strict=True)))


IMPLEMENTATION = Consensus

"""`consensus`, with the last word learned: what a reading's residuals and neighbours have meant on training images."""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from mrac.conventions import FloatArray
from mrac.gate.base import unjudged
from mrac.gate.consensus import LEAST, Consensus, Part, dealt, gathered, verdict_on
from mrac.gate.consensus.classifier import Scores, scorer_of
from mrac.gate.consensus.classifier_inputs import told_of
from mrac.options import check_numbers
from mrac.runtime.parallel import map_spans
from mrac.types import GateResult, Samples


@dataclass(frozen=True, kw_only=True)
class ConsensusLearned(Consensus):
    """The model of `consensus` settles as it does; a small network then reads what it found, and has the last word.

    It says two things of a reading, since they are not the same: how likely it is wrong, which is the verdict, and how
    far to trust it, which is what fit and head go by. The first was trained on what was wrong, the second on the depth
    that came of it: to hear one of many neighbours who agree costs little if it is wrong, and one who stands alone may
    be right and still be worth nothing to the pixels around.

    What the network has never met it cannot judge, so the plain model keeps a say: where it takes a reading for wrong,
    `plain_say` of its log odds count in both. Without relative depth, which the network never missed in training, the
    verdicts are those of `consensus`.

    Attributes:
        wrong_from: probability of being wrong from which a reading is called so.
        plain_say: what the plain model's log odds of being wrong count for.
        weights: the ones in the package by their name, or the path of an .npz file of `mrac train gate`.
    """

    wrong_from: float = 0.2
    plain_say: float = 0.2
    weights: str = "consensus_learned"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, 1e-3, 0.999, only=("wrong_from",))
        check_numbers(self, 0.0, 1e3, only=("plain_say",))
        scorer_of(self.weights)  # now, not at the first frame

    def __call__(self, samples: Samples) -> GateResult:
        """See `Gate`."""
        K = len(samples)
        if K < 3:
            return unjudged(K, "too_few_anchors")
        if samples.x is None or samples.flat:
            return super().__call__(samples)
        groups = dealt(K)
        parts = self.parts(samples, groups)
        scores = chain(*map_spans(len(parts), lambda first, last: list(map(self._scores, parts[first:last]))))
        order = np.argsort(np.concatenate(groups))
        wrong, trust = (_logistic(np.concatenate(odds)[order]) for odds in zip(*scores, strict=True))
        judged = gathered([part.judged for part in parts], groups)
        return verdict_on(
            samples, judged, np.where(trust > LEAST, trust, 0.0), wrong=wrong, keep=wrong < self.wrong_from
        )

    def _scores(self, part: Part) -> Scores:
        told = told_of(*part)
        say = self.plain_say * np.minimum(told["plain"], 0.0)
        scores = scorer_of(self.weights)(told)
        return Scores(scores.wrong - say, scores.trust + say)


def _logistic(odds: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -50.0, 50.0))))


IMPLEMENTATION = ConsensusLearned

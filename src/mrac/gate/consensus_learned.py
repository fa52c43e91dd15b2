"""`consensus`, with the last word learned: what a reading's residuals and neighbours have meant on training images."""

import math
from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.gate._base import unjudged
from mrac.gate._scorer import scorer_of
from mrac.gate._testimony import told_of
from mrac.gate.consensus import LEAST, Consensus, Part, dealt, gathered, verdict_on
from mrac.options import check_numbers
from mrac.types import GateResult, Samples


@dataclass(frozen=True, kw_only=True)
class ConsensusLearned(Consensus):
    """The model of `consensus` settles as it does; a small network then reads what it found, and states what is wrong.

    What the network has never met it cannot judge, so the plain model keeps a say: where it takes a reading for wrong,
    `plain_say` of its log odds are added. What is heard is another matter than what is likely: a wrong reading that is
    trusted costs more than a right one that is not, and half a trust in a gross error is nearly as bad as a whole one.
    So the weight is one half at `kept_from`, and rises and falls around it `sharpness` times as fast as the log odds.
    Without relative depth, which the network never missed in training, the verdicts are those of `consensus`.

    Attributes:
        kept_from: probability of being right from which a reading is kept.
        sharpness: of trust around it.
        plain_say: what the plain model's log odds of being wrong count for.
        weights: the ones in the package by their name, or the path of an .npz file of `mrac train gate`.
    """

    kept_from: float = 0.7
    sharpness: float = 3.0
    plain_say: float = 0.2
    weights: str = "consensus_learned"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, 1e-3, 0.999, only=("kept_from",))
        check_numbers(self, 1e-2, 1e3, only=("sharpness",))
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
        odds = np.concatenate([self._odds(part) for part in parts])[np.argsort(np.concatenate(groups))]
        wrong = _logistic(odds)
        trust = _logistic(-self.sharpness * (odds + math.log(self.kept_from / (1.0 - self.kept_from))))
        judged = gathered([part.judged for part in parts], groups)
        return verdict_on(samples, judged, np.where(trust > LEAST, trust, 0.0), wrong)

    def _odds(self, part: Part) -> FloatArray:
        """(K,) log odds of being wrong."""
        told = told_of(*part)
        return scorer_of(self.weights)(told) - self.plain_say * np.minimum(told["plain"], 0.0)


def _logistic(odds: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -50.0, 50.0))))


IMPLEMENTATION = ConsensusLearned

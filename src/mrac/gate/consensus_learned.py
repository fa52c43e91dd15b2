"""`consensus` followed by a learned classifier of its leave-one-out residuals and neighbours (299 kB, no torch)."""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from mrac.conventions import FloatArray
from mrac.gate.consensus import Consensus, Group, divided, in_order
from mrac.gate.consensus.classifier import Logits, load_classifier, local_range, near_object, reading_features
from mrac.gate.consensus.reading_points import image_features
from mrac.gp.features import ImageAppearance
from mrac.registry import check_numbers
from mrac.runtime.parallel import map_spans
from mrac.types import GateResult, Samples


@dataclass(frozen=True, kw_only=True)
class ConsensusLearned(Consensus):
    """The mixture model of `consensus`, then an MLP that turns its results into an outlier probability and a weight.

    The two differ. The outlier probability, calibrated, decides what is kept; it was trained on which readings were
    wrong. The weight is what fit and head use; it was trained on the error of the depth that results: one wrong reading
    among many neighbours that agree costs little, and a right one far from all others may not help the pixels around.

    The classifier cannot judge errors unlike any in training, so the mixture model keeps some influence: where it takes
    a reading for an outlier, `model_weight` of its log odds are added to both. Readings that are far nearer than the
    scene but support each other gain up to `near_object_odds`: an object close to the camera, which the network misses.
    Without relative depth, which was always there in training, and where the readings contradict it, the verdicts are
    those of `consensus`.

    Attributes:
        reject_from: outlier probability from which a reading is rejected.
        model_weight: of the mixture model's log odds of being an outlier.
        near_object_odds: log odds of being an inlier, added where `near_object` is sure.
        weights: `consensus_learned`, those of the package, or the path of an .npz file of `mrac train gate`.
    """

    reject_from: float = 0.3
    model_weight: float = 0.3
    near_object_odds: float = 16.0
    weights: str = "consensus_learned"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self, 1e-3, 0.999, only=("reject_from",))
        check_numbers(self, 0.0, 1e3, only=("model_weight", "near_object_odds"))
        load_classifier(self.weights)  # now, not at the first frame

    def judge(
        self, samples: Samples, image: ImageAppearance | None = None, relative: FloatArray | None = None
    ) -> GateResult:
        """See `Gate`."""
        if len(samples) < 3 or samples.x is None or samples.flat:
            return super().judge(samples, image, relative)
        features, groups = image_features(samples, image, relative), divided(len(samples))
        around = None if relative is None else local_range(relative, samples.uv_px)
        parts = self.judge_groups(samples, groups, features, around)
        if alone := self.judge_alone(samples, groups, features, parts[0], image):
            return alone
        logits = chain(*map_spans(len(parts), lambda first, last: list(map(self._logits, parts[first:last]))))
        order = np.argsort(np.concatenate(groups))
        outlier, weight = (_logistic(np.concatenate(odds)[order]) for odds in zip(*logits, strict=True))
        return self.verdict(
            samples,
            in_order([part.judgement for part in parts], groups),
            weight,
            features=features,
            outlier_probability=outlier,
            keep=outlier < self.reject_from,
        )

    def _logits(self, group: Group) -> Logits:
        features = reading_features(group)
        inlier = self.model_weight * np.minimum(features["model_logit"], 0.0)
        inlier += self.near_object_odds * near_object(features)
        logits = load_classifier(self.weights)(features)
        return Logits(logits.outlier - inlier, logits.weight + inlier)


def _logistic(odds: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -50.0, 50.0))))


IMPLEMENTATION = ConsensusLearned

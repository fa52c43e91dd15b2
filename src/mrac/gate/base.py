"""The contract of a gate: for every anchor whether it is kept, its weight, its outlier probability and the reason."""

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.gp.features import ImageAppearance
from mrac.types import INLIER_WEIGHT, WORST_SCORE, GateResult, Samples


class Gate(ABC):
    """A gate is a frozen dataclass of its parameters that keeps nothing between calls."""

    def __call__(
        self, samples: Samples, image: ImageAppearance | None = None, relative: FloatArray | None = None
    ) -> GateResult:
        """Judges any number of samples, 0 included.

        Where nothing would be left to fit, every sample is kept, and the status is `all_anchors_rejected`.

        Args:
            samples: the usable anchors.
            image: the image, whose appearance is computed on first use; None where there is none.
            relative: (H, W) relative depth, finite; None where there is none.
        """
        result = self.judge(samples, image, relative)
        if len(samples) and not result.for_fit.any():
            kept = unjudged(len(samples), "all_anchors_rejected")
            return replace(kept, features=result.features, use_relative=result.use_relative)
        return result

    @abstractmethod
    def judge(
        self, samples: Samples, image: ImageAppearance | None = None, relative: FloatArray | None = None
    ) -> GateResult:
        """What `__call__` does, for a subclass to define."""


class LineGate(Gate):
    """A gate that compares the anchors with a line through (relative depth, depth).

    It cannot judge without relative depth (`no_relative_depth`), where that is constant (`constant_relative_depth`), or
    with fewer than three anchors, which any line fits (`too_few_anchors`). It then keeps every anchor, with the reason
    `unjudged`.
    """

    def judge(
        self, samples: Samples, image: ImageAppearance | None = None, relative: FloatArray | None = None
    ) -> GateResult:
        """See `Gate`."""
        if samples.x is None:
            return unjudged(len(samples), "no_relative_depth")
        if len(samples) < 3:
            return unjudged(len(samples), "too_few_anchors")
        if samples.flat:
            return unjudged(len(samples), "constant_relative_depth")
        return self.judge_line(samples, samples.x, samples.y)

    @abstractmethod
    def judge_line(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
        """Judges three or more samples whose `x` (K,) are not all equal, against `y` (K,)."""


def unjudged(count: int, status: str) -> GateResult:
    """Keeps all of `count` anchors, at full weight."""
    return GateResult(
        keep=np.ones(count, np.bool_),
        score=np.zeros(count),
        reason=np.full(count, "unjudged"),
        weight=np.ones(count),
        status=status,
    )


def verdict(samples: Samples, keep: BoolArray, residual: FloatArray, sigma: float) -> GateResult:
    """A hard verdict from residuals (K,) of y around a line, `sigma` being one standard deviation of them."""
    off = np.abs(residual)
    least = max(float(off.max()) / WORST_SCORE, np.finfo(np.float64).tiny)  # sigma is 0 when most lie on the line
    score = np.minimum(off / max(sigma, least), WORST_SCORE)
    nearer = (residual > 0.0) == (samples.space == "inverse_depth")
    reason = np.where(keep, "consistent", np.where(nearer, "nearer_than_fit", "farther_than_fit"))
    return GateResult(keep=keep, score=score, reason=reason, weight=keep.astype(np.float64))


def with_confidence(gated: GateResult, confidence: FloatArray | None) -> GateResult:
    """A verdict that also counts what the sensor says of each reading.

    A reading is right where neither the sensor nor the gate finds it wrong, two causes taken as independent: the
    probability of being right and the weight are multiplied by the confidence. A confidence of 1 changes nothing.

    Args:
        gated: the gate's verdict on K samples.
        confidence: (K,) in [0, 1], or None.

    Returns:
        `gated` itself without confidences, or where they would leave nothing to fit.
    """
    if confidence is None or not gated.keep.size:
        return gated
    outlier = 1.0 - gated.weight if gated.outlier_probability is None else gated.outlier_probability
    right = (1.0 - outlier) * confidence
    keep = gated.keep & ((right >= INLIER_WEIGHT) | (confidence == 1.0))
    result = replace(
        gated,
        keep=keep,
        reason=np.where(gated.keep & ~keep, "low_confidence", gated.reason),
        weight=gated.weight * confidence,
        outlier_probability=1.0 - right,
    )
    return result if result.for_fit.any() else gated

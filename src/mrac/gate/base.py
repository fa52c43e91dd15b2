"""The contract of a gate: for every anchor whether it is kept, its weight, its outlier probability and the reason."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.gp.features import ImageAppearance
from mrac.registry import function_name, parameter_names
from mrac.stage_results import checked_gate, describe
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
        result = checked_gate(self, self.judge(samples, image, relative), len(samples))
        if len(samples) and not result.for_fit.any():
            kept = unjudged(len(samples), "all_anchors_rejected")
            return replace(kept, features=result.features, use_relative=result.use_relative)
        return result

    @abstractmethod
    def judge(
        self, samples: Samples, image: ImageAppearance | None = None, relative: FloatArray | None = None
    ) -> GateResult:
        """What `__call__` does, for a subclass to define."""

    def prepare(self, samples: Samples, image: ImageAppearance) -> None:  # noqa: B027  (most gates have no use for it)
        """Called beside the foundation's network, on another core, with the samples as they are without relative depth.

        A gate that needs a result of these alone may put it into `image.kept`, for `judge` to find; here it does
        nothing. Nothing may depend on it: on one core, or without a network, it is not called.
        """

    @staticmethod
    def from_function(function: Callable[..., Any]) -> "Gate":
        """A gate of a plain function, which a `Calibrator` also takes as it is.

        Args:
            function: of `Samples` (K of them, K >= 1), to a (K,) bool array of those to keep, to (K,) float weights
                from 0 to 1, or to a `GateResult`. One with parameters called `image` or `relative` is given these too.
        """
        return FunctionGate(function)


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


@dataclass(frozen=True)
class FunctionGate(Gate):
    """The verdicts of a plain function; see `Gate.from_function`."""

    function: Callable[..., Any]

    @property
    def stage_name(self) -> str:
        """The function's."""
        return function_name(self.function)

    def judge(
        self, samples: Samples, image: ImageAppearance | None = None, relative: FloatArray | None = None
    ) -> GateResult:
        """See `Gate`; without samples the function is not called."""
        if not len(samples):
            return unjudged(0, "ok")
        asked = parameter_names(self.function)
        also = {name: value for name, value in (("image", image), ("relative", relative)) if name in asked}
        result = self.function(samples, **also)
        return result if isinstance(result, GateResult) else self._verdict(result, len(samples))

    def _verdict(self, result: object, num: int) -> GateResult:
        try:
            values = np.asarray(result)
        except ValueError:  # rows of different lengths
            values = np.empty(0, np.object_)
        if values.shape != (num,) or values.dtype.kind not in "bf":
            raise ContractError(
                f"gate {self.stage_name}: {describe(result if result is None else values)} arrived, ({num},) is "
                "needed, one for each sample: bool whether to keep it, or float its weight from 0 to 1"
            )
        weight = values.astype(np.float64)
        if not ((weight >= 0.0) & (weight <= 1.0)).all():
            low, high = weight.min(), weight.max()
            raise ContractError(
                f"gate {self.stage_name}: weights from {low:g} to {high:g} arrived, numbers from 0 to 1 are needed"
            )
        keep = weight >= INLIER_WEIGHT
        return GateResult(
            keep=keep,
            score=np.where(keep, 0.0, WORST_SCORE),
            reason=np.where(keep, "consistent", "rejected"),
            weight=weight,
        )


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
    probability of being right and the weight are multiplied by the confidence. A confidence of 1 changes nothing; below
    one half, a reading that the gate kept is rejected as `low_confidence`.

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
    keep = gated.keep & (confidence >= INLIER_WEIGHT)
    result = replace(
        gated,
        keep=keep,
        reason=np.where(gated.keep & ~keep, "low_confidence", gated.reason),
        weight=gated.weight * confidence,
        outlier_probability=1.0 - right,
    )
    return result if result.for_fit.any() else gated

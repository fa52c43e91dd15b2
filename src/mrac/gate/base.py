"""The contract of a gate: a verdict on every anchor, with a reason that a person understands."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from mrac.conventions import BoolArray, FloatArray
from mrac.types import WORST_SCORE, GateResult, Samples


class Gate(ABC):
    """A gate is a frozen dataclass of its parameters; calling it judges, and keeps nothing.

    Attributes:
        looks_at_image: whether it uses `Samples.alike`, which costs a look at the whole image.
    """

    looks_at_image: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, samples: Samples) -> GateResult:
        """Judges any number of samples, 0 included."""


class LineGate(Gate):
    """A gate that compares the anchors with a line through the relative field.

    It cannot judge without such a field (`no_witness`), with a flat one (`degenerate_x`), or with fewer than three
    anchors, where any line fits (`too_few_anchors`). It then keeps every anchor, with the reason `unjudged`, and says
    so in its status.
    """

    def __call__(self, samples: Samples) -> GateResult:
        """See `Gate`."""
        if samples.x is None:
            return unjudged(len(samples), "no_witness")
        if len(samples) < 3:
            return unjudged(len(samples), "too_few_anchors")
        if samples.flat:
            return unjudged(len(samples), "degenerate_x")
        return self.judge(samples, samples.x, samples.y)

    @abstractmethod
    def judge(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
        """Judges three or more samples whose `x` (K,) are not all equal, against `y` (K,)."""


def unjudged(count: int, status: str) -> GateResult:
    """Keeps all of `count` anchors without an opinion."""
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

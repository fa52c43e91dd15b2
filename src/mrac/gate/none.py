"""Keeps every anchor."""

from dataclasses import dataclass

from mrac.conventions import FloatArray
from mrac.gate.base import Gate, unjudged
from mrac.gp.features import ImageAppearance
from mrac.types import GateResult, Samples


@dataclass(frozen=True, kw_only=True)
class NoGate(Gate):
    """For heads that are to use every anchor, and as the baseline of every other gate."""

    def judge(
        self, samples: Samples, image: ImageAppearance | None = None, relative: FloatArray | None = None
    ) -> GateResult:
        """See `Gate`; not judging is what was asked for, so the status is `ok` whatever the scene."""
        return unjudged(len(samples), "ok")


IMPLEMENTATION = NoGate

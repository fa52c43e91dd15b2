"""MSAC (Torr and Zisserman 2000): the line with the least truncated squared error among those through two anchors."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.gate.base import LineGate, verdict
from mrac.robust_line.least_squares import least_squares
from mrac.robust_line.msac import MsacOptions, supporters
from mrac.robust_line.relative_error import error_unit
from mrac.types import GateResult, Samples


@dataclass(frozen=True, kw_only=True)
class MsacGate(MsacOptions, LineGate):
    """Keeps the anchors within `threshold` of the best line through two of them, fitted once more to its supporters.

    Like RANSAC it fails on correlated dropouts: one value at many places is a line that fits without any error.
    """

    def judge_line(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
        """See `LineGate`; scores are relative errors in half thresholds."""
        unit = error_unit(y, samples.space)
        error = (y - least_squares(x, y, unit**-2, supporters(x, y, unit, self))(x)) / unit
        return verdict(samples, np.abs(error) <= self.threshold, error, self.threshold / 2.0)


IMPLEMENTATION = MsacGate

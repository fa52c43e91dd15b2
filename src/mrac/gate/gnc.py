"""Graduated non-convexity (Yang et al. 2020): truncated least squares, without random sampling."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.gate.base import LineGate, verdict
from mrac.robust_line.gnc import GncOptions, inliers
from mrac.robust_line.least_squares import least_squares
from mrac.robust_line.relative_error import error_unit
from mrac.types import GateResult, Samples


@dataclass(frozen=True, kw_only=True)
class GncGate(GncOptions, LineGate):
    """Keeps the anchors within `threshold` of the line that truncated least squares settles on."""

    def judge_line(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
        """See `LineGate`; scores are relative errors in half thresholds."""
        unit = error_unit(y, samples.space)
        error = (y - least_squares(x, y, unit**-2, inliers(x, y, unit, self))(x)) / unit
        return verdict(samples, np.abs(error) <= self.threshold, error, self.threshold / 2.0)


IMPLEMENTATION = GncGate

"""Gates that keep what lies near the least-squares line through the inliers that an estimator selects."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.gate.base import LineGate, verdict
from mrac.robust_line.least_squares import least_squares
from mrac.robust_line.relative_error import InlierSelection, error_unit
from mrac.types import GateResult, Samples


@dataclass(frozen=True, kw_only=True)
class InlierGate(InlierSelection, LineGate):
    """Keeps the anchors whose relative error around that line is within `threshold`."""

    def judge_line(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
        """See `LineGate`; scores are relative errors in half thresholds."""
        unit = error_unit(y, samples.space)
        error = (y - least_squares(x, y, unit**-2, self.inlier_set(x, y, unit))(x)) / unit
        return verdict(samples, np.abs(error) <= self.threshold, error, self.threshold / 2.0)

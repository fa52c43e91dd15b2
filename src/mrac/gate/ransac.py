"""RANSAC with a fixed threshold: the paper's "obvious patch", fails on correlated dropouts."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.gate.base import LineGate, verdict
from mrac.robust_line.least_squares import least_squares
from mrac.robust_line.ransac import RansacOptions, inlier_set
from mrac.space import Space
from mrac.types import GateResult, Samples

# The paper fixes the threshold but does not print it. Ours: 0.2 m, and in the other spaces what 10 % of a 2 m reading
# amounts to, so that the same indoor scene is judged alike.
_DEFAULT_THRESHOLD: Final[dict[Space, float]] = {"depth": 0.2, "inverse_depth": 0.05, "log_depth": 0.1}


@dataclass(frozen=True, kw_only=True)
class RansacGate(RansacOptions, LineGate):
    """Keeps the largest set of anchors that agree with one line.

    A threshold of 0 takes the default of the fit's space: 0.2 m, 0.05 1/m, 0.1.
    """

    def judge_line(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
        """See `LineGate`; scores are residuals from least squares on the inlier set, in half thresholds."""
        threshold = self.threshold or _DEFAULT_THRESHOLD[samples.space]
        keep = inlier_set(x, y, threshold, self.trials, self.seed)
        residual = y - least_squares(x, y, np.ones(x.size), keep)(x)
        return verdict(samples, keep, residual, threshold / 2.0)


IMPLEMENTATION = RansacGate

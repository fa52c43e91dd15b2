"""RANSAC, seeded, with a least-squares line on the inlier set (Marsal et al.'s rescaling step)."""

from dataclasses import dataclass

import numpy as np

from mrac.conventions import FloatArray
from mrac.fit.base import Fit
from mrac.robust_line.least_squares import least_squares
from mrac.robust_line.ransac import RansacOptions, inlier_set
from mrac.types import FitResult, Samples


@dataclass(frozen=True, kw_only=True)
class Ransac(RansacOptions, Fit):
    """The line through two anchors that most others agree with, then least squares on those.

    A threshold of 0 takes the median absolute deviation of y, scikit-learn's rule.
    """

    def solve(self, samples: Samples, x: FloatArray, y: FloatArray) -> FitResult:
        """See `Fit`."""
        threshold = self.threshold or float(np.median(np.abs(y - np.median(y))))
        inlier = inlier_set(x, y, threshold, self.trials, self.seed)
        return least_squares(x, y, samples.weight, inlier)


IMPLEMENTATION = Ransac

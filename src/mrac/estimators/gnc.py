"""Graduated non-convexity (Yang et al. 2020): truncated least squares, without random sampling."""

from mrac.estimators._inliers import InlierLine
from mrac.robust_line.gnc import GncOptions
from mrac.robust_line.relative_error import InlierSelection


class GncGate(InlierLine):
    """The line that truncated least squares settles on, from a sequence of less and less convex problems.

    Args:
        threshold: largest residual of an inlier, > 0, in the unit of y; with `relative` as a share of y.
        growth: factor of the control parameter from round to round; 1.4 is the authors'.
        relative: residuals are shares of y, which must be > 0: so the gate `gnc` judges depth.
    """

    def __init__(self, threshold: float = 0.2, growth: float = 1.4, relative: bool = False) -> None:
        self.threshold = threshold
        self.growth = growth
        self.relative = relative

    def _selection(self) -> InlierSelection:
        return GncOptions(threshold=self.threshold, growth=self.growth)

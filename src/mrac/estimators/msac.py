"""MSAC (Torr and Zisserman 2000): RANSAC with a truncated squared error as its cost."""

from mrac.estimators._inliers import InlierLine
from mrac.robust_line.msac import MsacOptions
from mrac.robust_line.relative_error import InlierSelection


class MsacGate(InlierLine):
    """Least squares on the inliers of the line through two points with the least truncated squared error.

    Args:
        threshold: largest residual of an inlier, > 0, in the unit of y; with `relative` as a share of y.
        trials: pairs drawn; all pairs are tried where there are no more than that.
        seed: of the draw.
        relative: residuals are shares of y, which must be > 0: so the gate `msac` judges depth.
    """

    def __init__(self, threshold: float = 0.2, trials: int = 2000, seed: int = 0, relative: bool = False) -> None:
        self.threshold = threshold
        self.trials = trials
        self.seed = seed
        self.relative = relative

    def _selection(self) -> InlierSelection:
        return MsacOptions(threshold=self.threshold, trials=self.trials, seed=self.seed)

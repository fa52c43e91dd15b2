"""RANSAC: the line through two points that most others are near, and least squares on those."""

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.estimators._inliers import constant, least_squares_line
from mrac.estimators._line import FittedLine, RobustLine
from mrac.robust_line.ransac import RansacOptions, inlier_set
from mrac.types import is_constant


class RansacGate(RobustLine):
    """The largest set of points that agree with one line, as the gate `ransac` finds it in depth.

    Args:
        threshold: largest residual of an inlier, in the unit of y, > 0.
        trials: pairs drawn; all pairs are tried where there are no more than that.
        seed: of the draw.
    """

    def __init__(self, threshold: float = 0.2, trials: int = 200, seed: int = 0) -> None:
        self.threshold = threshold
        self.trials = trials
        self.seed = seed

    def _fit_line(self, x: FloatArray, z: FloatArray) -> FittedLine:
        options = RansacOptions(threshold=self.threshold, trials=self.trials, seed=self.seed)
        if not options.threshold:
            raise ContractError("RansacGate.threshold: 0 arrived, a number > 0 is needed, in the unit of y")
        if is_constant(x):
            return constant(z)
        keep = inlier_set(x, z, float(options.threshold), options.trials, options.seed)
        return FittedLine(*least_squares_line(x, z, None, keep), keep)

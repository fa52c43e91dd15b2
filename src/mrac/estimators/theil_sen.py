"""The Theil–Sen line and a test at κ robust standard deviations: the paper's gate."""

from mrac.conventions import FloatArray
from mrac.estimators._line import FittedLine, RobustLine
from mrac.gate.theil_sen_mad import theil_sen_gate


class TheilSenGate(RobustLine):
    """The median slope over all pairs of points, exact for any number; the breakdown point is 29 % outliers.

    As the gate `theil_sen_mad`; see `mrac.theil_sen_gate`.

    Args:
        kappa: width of the test in robust standard deviations (1.4826 times the median absolute deviation).

    Attributes:
        sigma_: one robust standard deviation of the residuals, in the unit of y.
    """

    sigma_: float

    def __init__(self, kappa: float = 2.0) -> None:
        self.kappa = kappa

    def _fit_line(self, x: FloatArray, z: FloatArray) -> FittedLine:
        line = theil_sen_gate(x, z, self.kappa)
        self.sigma_ = line.sigma
        return FittedLine(line.slope, line.intercept, line.keep)

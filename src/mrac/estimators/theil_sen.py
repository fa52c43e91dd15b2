"""The Theil–Sen line and a test at κ robust standard deviations: the paper's gate."""

from mrac.conventions import FloatArray
from mrac.estimators._line import FittedLine, MadLine
from mrac.gate.theil_sen_mad import theil_sen_gate


class TheilSenGate(MadLine):
    """The median slope over all pairs of points, exact for any number; the breakdown point is 29 % outliers.

    As the gate `theil_sen_mad`; see `mrac.theil_sen_gate`.

    Args:
        kappa: width of the test in robust standard deviations (1.4826 times the median absolute deviation).

    Attributes:
        sigma_: one robust standard deviation of the residuals, in the unit of y.
    """

    def _fit_line(self, x: FloatArray, z: FloatArray) -> FittedLine:
        line = theil_sen_gate(x, z, self.kappa)
        self.sigma_ = line.sigma
        return FittedLine(line.slope, line.intercept, line.keep)

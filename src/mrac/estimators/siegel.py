"""Siegel's repeated median and a test at κ robust standard deviations."""

from mrac.conventions import FloatArray
from mrac.estimators._line import FittedLine, MadLine
from mrac.gate.siegel_mad import SiegelMad, slope_of_all
from mrac.robust_line.theil_sen import mad_test


class SiegelGate(MadLine):
    """The median over points of the median slope from each; the breakdown point is 50 % outliers.

    As the gate `siegel_mad`, which takes the slope of above 6,000 points from that many of them.

    Args:
        kappa: width of the test in robust standard deviations (1.4826 times the median absolute deviation).

    Attributes:
        sigma_: one robust standard deviation of the residuals, in the unit of y.
    """

    def _fit_line(self, x: FloatArray, z: FloatArray) -> FittedLine:
        kappa = float(SiegelMad(kappa=self.kappa).kappa)
        slope, intercept, self.sigma_, _, keep, _ = mad_test(x, z, kappa, slope_of_all(x, z))
        return FittedLine(slope, intercept, keep)

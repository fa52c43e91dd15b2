"""Siegel's repeated median with a MAD test: breakdown point 50 % where Theil–Sen has 29 %."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.gate._mad import MadGate
from mrac.gate.base import verdict
from mrac.robust_line.siegel import siegel_slope
from mrac.robust_line.theil_sen import mad_test
from mrac.types import GateResult, Samples

# The repeated median costs K²: half a second here, two minutes at 100,000 anchors.
MAX_FOR_SLOPE: Final = 6_000


def slope_of_all(x: FloatArray, y: FloatArray) -> float:
    """The repeated median slope of K points; of more than `MAX_FOR_SLOPE`, that of so many, evenly spaced."""
    some = np.linspace(0, x.size - 1, min(x.size, MAX_FOR_SLOPE)).astype(np.intp)
    if np.ptp(x[some]) == 0.0:  # those differ in x that were left out: rare, and worth the wait
        some = np.arange(x.size)
    return siegel_slope(x[some], y[some])


@dataclass(frozen=True, kw_only=True)
class SiegelMad(MadGate):
    """As the paper's gate, with the slope of each anchor's median pair instead of the median over all pairs.

    Above `MAX_FOR_SLOPE` anchors the slope is taken from that many, evenly spaced in the order given; intercept,
    deviation and verdicts always come from all of them.
    """

    def judge_line(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
        """See `LineGate`."""
        _, _, sigma, residual, keep, _ = mad_test(x, y, float(self.kappa), slope_of_all(x, y))
        return verdict(samples, keep, residual, sigma)


IMPLEMENTATION = SiegelMad

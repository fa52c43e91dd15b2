"""The paper's gate: Theil–Sen line, then a test at κ robust standard deviations (eqs. 4–6)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.gate._base import Gate, verdict
from mrac.line.theil_sen import NOT_FINITE, theil_sen_mad
from mrac.types import GateResult, Samples


class TheilSenGate(NamedTuple):
    """The line and what it says of K anchors.

    Attributes:
        slope: median of the slopes of all pairs with different x; 0 when there is no such pair.
        intercept: median of z − slope · x.
        sigma: 1.4826 times the median absolute deviation of the residuals.
        keep: (K,) |residual| <= kappa · sigma, up to rounding.
        residual: (K,) z − (slope · x + intercept).
    """

    slope: float
    intercept: float
    sigma: float
    keep: BoolArray
    residual: FloatArray


def theil_sen_gate(x: ArrayLike, z: ArrayLike, kappa: float = 2.0) -> TheilSenGate:
    """The gate of the paper, on bare numbers.

    Args:
        x: (K,) relative depth at the anchors, finite.
        z: (K,) the readings, finite, in any unit.
        kappa: width of the test.

    Raises:
        ContractError: not two finite arrays of one length >= 1, or kappa not >= 0.
    """
    xs, zs = np.asarray(x, dtype=np.float64), np.asarray(z, dtype=np.float64)
    if xs.ndim != 1 or xs.shape != zs.shape or xs.size == 0:
        raise ContractError(
            f"theil_sen_gate: x {xs.shape} and z {zs.shape} arrived; two (K,) arrays, K >= 1, are needed"
        )
    if not kappa >= 0.0:
        raise ContractError(f"theil_sen_gate: kappa = {kappa} arrived; a number >= 0 is needed")
    slope, intercept, sigma, residual, keep, outcome = theil_sen_mad(xs, zs, kappa)
    if outcome == NOT_FINITE:
        raise ContractError("theil_sen_gate: x or z is not finite, or so large that the line through them is not")
    return TheilSenGate(slope, intercept, sigma, keep, residual)


@dataclass(frozen=True, kw_only=True)
class TheilSenMad(Gate):
    """Trusts the anchors that one line explains; the breakdown point is 29 % wrong anchors.

    Attributes:
        kappa: width of the test in robust standard deviations.
    """

    kappa: float = 2.0

    def judge(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
        """See `Gate`."""
        gate = theil_sen_gate(x, y, self.kappa)
        return verdict(samples, gate.keep, gate.residual, gate.sigma)


IMPLEMENTATION = TheilSenMad

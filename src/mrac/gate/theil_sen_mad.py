"""The paper's gate: Theil–Sen line, then a test at κ robust standard deviations (eqs. 4–6)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mrac.conventions import BoolArray, FloatArray, as_number, as_numbers
from mrac.errors import ContractError
from mrac.gate._mad import MadGate
from mrac.gate.base import verdict
from mrac.robust_line.theil_sen import NOT_FINITE, theil_sen_mad
from mrac.types import GateResult, Samples


class TheilSenGate(NamedTuple):
    """The Theil–Sen line and its verdict on K anchors.

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
    xs, zs = _kernel_array(x, "x"), _kernel_array(z, "z")
    if xs.ndim != 1 or xs.shape != zs.shape or xs.size == 0:
        raise ContractError(
            f"theil_sen_gate: x {xs.shape} and z {zs.shape} arrived; two (K,) arrays, K >= 1, are needed"
        )
    width = as_number(kappa, "theil_sen_gate: kappa: a number is needed, as kappa=2.0")
    if not 0.0 <= width < math.inf:
        raise ContractError(f"theil_sen_gate: kappa = {kappa!r} arrived; a finite number >= 0 is needed")
    slope, intercept, sigma, residual, keep, outcome = theil_sen_mad(xs, zs, width)
    if outcome == NOT_FINITE:
        raise ContractError("theil_sen_gate: x or z is not finite, or so large that the line through them is not")
    return TheilSenGate(slope, intercept, sigma, keep, residual)


def _kernel_array(values: ArrayLike, name: str) -> FloatArray:
    """`values` as the compiled gate was compiled for: any other layout would be compiled for anew, for seconds."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.flags.carray:
        return values
    return as_numbers(values, f"theil_sen_gate: {name}")


@dataclass(frozen=True, kw_only=True)
class TheilSenMad(MadGate):
    """Keeps the anchors near one line; the breakdown point is 29 % outliers."""

    def judge_line(self, samples: Samples, x: FloatArray, y: FloatArray) -> GateResult:
        """See `LineGate`."""
        gate = theil_sen_gate(x, y, self.kappa)
        return verdict(samples, gate.keep, gate.residual, gate.sigma)


IMPLEMENTATION = TheilSenMad

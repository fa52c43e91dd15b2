"""Candidate relations between relative depth and depth: one-parameter families of curves, the parameter a contrast.

Relative depth is scaled to u, 0 at the low end of its typical range and 1 at the high end. In all families z^p is a
line in u: with p = 1 that is depth, with p = −1 inverse depth, and p → 0 is log depth. The contrast C is the rise of
ln z from u = 0 to u = 1; so ln z = shift + ln(1 + (exp(p C) − 1) u) / p, which is finite between the ends for every C.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.runtime.jit import kernel
from mrac.space import POWERS, SPACES, Space

_MAX_BEND: Final = 12.0  # of p · C: a factor of 160,000 between the ends is a line that all but reaches zero
_MAX_SLOPE: Final = 5.0  # beyond the ends, relative to the mean slope between them
_MIN_X: Final = 1e-3  # of the low end, at which x is clipped before its logarithm is taken


@dataclass(frozen=True, kw_only=True)
class RelationOptions:
    """The prior of the relations.

    Attributes:
        slope_std: relative standard deviation of the contrast around the field's own: of the slope, in log depth.
        contrast: median contrast of ln z over a scene, where the field's own is not informative.
        contrast_std: standard deviation of its logarithm.
        prior_unshifted: probability that a field of depth, or of inverse depth, has no unknown shift.
        prior_undeclared: probability that a field is not of its declared space.
    """

    slope_std: float = 0.2
    contrast: float = 2.0
    contrast_std: float = 0.8
    prior_unshifted: float = 0.8
    prior_undeclared: float = 0.001


@dataclass(frozen=True, kw_only=True)
class Relation:
    """One family of curves.

    Attributes:
        space: in which it is a line.
        of_log: whether u is a line in ln x, not in x, and ln z one in u: then z is a power of x.
        rising: whether depth grows with x.
        contrast: median of the prior of C.
        contrast_std: its relative standard deviation: of a normal distribution where `own`, else of a log-normal one.
        own: whether the median is the field's own contrast.
        declared: whether this is the declared space of the field.
        probability: of the prior.
    """

    space: Space
    of_log: bool = False
    rising: bool
    contrast: float
    contrast_std: float
    own: bool
    declared: bool
    probability: float

    @property
    def name(self) -> str:
        """As reports call it."""
        line = "power of x" if self.of_log else f"line in {self.space}"
        return line if self.declared else f"{'rising' if self.rising else 'falling'} {line}"

    @property
    def power(self) -> float:
        """The p of the module's formula."""
        return 0.0 if self.of_log else POWERS[self.space]

    def contrasts(self, deviations: FloatArray) -> FloatArray:
        """C, signed, at these standard deviations from the median; any shape."""
        relative = self.contrast_std * deviations
        size = self.contrast * (1.0 + relative if self.own else np.exp(relative))
        return np.asarray(size if self.rising else -size)

    def u(self, x: FloatArray, low: float, high: float) -> FloatArray:
        """Relative depth `x`, any shape, scaled to u."""
        if self.of_log:
            x, low, high = np.log(np.maximum(x, _MIN_X * low)), math.log(low), math.log(high)
        return np.asarray((x - low) / (high - low))


def relations(space: Space, native: bool, low: float, high: float, options: RelationOptions) -> list[Relation]:
    """All candidates for a field of the typical range `low` to `high` that is declared to be of `space`."""
    found: list[Relation] = []

    def add(
        kind: Space, rising: bool, probability: float, *, declared: bool = False, own: float = 0.0, of_log: bool = False
    ) -> None:
        found.append(
            Relation(
                space=kind,
                of_log=of_log,
                rising=rising,
                contrast=own or options.contrast,
                contrast_std=options.slope_std if own else options.contrast_std,
                own=own > 0.0,
                declared=declared,
                probability=probability,
            )
        )

    undeclared = options.prior_undeclared if native else 1.0
    likely, rises = 1.0 - undeclared, space != "inverse_depth"
    if native and space == "log_depth":
        add(space, rises, likely, declared=True, own=high - low)
    elif native:
        has_log = low > 1e-30 and high > 1.001 * low
        unshifted = options.prior_unshifted if has_log else 0.0
        add(space, rises, likely * (1.0 - unshifted), declared=True)
        if has_log:  # without a shift, an error of the contrast is a shift or a power
            own = math.log(high / low)
            add(space, rises, likely * unshifted / 2, declared=True, own=own)
            add(space, rises, likely * unshifted / 2, declared=True, own=own, of_log=True)
    already = {(r.space, r.rising) for r in found if not r.own}
    others = [(kind, rising) for kind in SPACES for rising in (True, False) if (kind, rising) not in already]
    for kind, rising in others:
        # A field of log depth whose contrast is far off is still what it was declared to be.
        add(kind, rising, undeclared / len(others), declared=native and (kind, rising) == (space, rises))
    return found


def curves(u_RN: FloatArray, contrast_RG: FloatArray, power_R: FloatArray) -> FloatArray:
    """(R, G, N) log depth up to a shift. Beyond the ends of u it is a line of bounded slope."""
    out = np.empty((*contrast_RG.shape, u_RN.shape[1]))
    _fill_curves(u_RN, contrast_RG, power_R, out)
    return out


@kernel
def _fill_curves(u: FloatArray, contrast: FloatArray, power: FloatArray, out: FloatArray) -> None:
    for r in range(out.shape[0]):
        for g in range(out.shape[1]):
            p, row = power[r], out[r, g]
            if p == 0.0:
                for n in range(row.size):
                    row[n] = contrast[r, g] * u[r, n]
                continue
            bent = min(max(p * contrast[r, g], -_MAX_BEND), _MAX_BEND)
            bent = 1e-6 if abs(bent) < 1e-6 else bent
            rise, steepest = math.expm1(bent), _MAX_SLOPE * abs(bent / p)
            below = min(max(rise / p, -steepest), steepest)
            above = min(max(-math.expm1(-bent) / p, -steepest), steepest)
            for n in range(row.size):
                inside = math.log1p(rise * min(max(u[r, n], 0.0), 1.0)) / p
                row[n] = inside + below * min(u[r, n], 0.0) + above * max(u[r, n] - 1.0, 0.0)

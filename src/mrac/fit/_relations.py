"""What a relative field may have to do with depth: families of curves, each told apart by one number, the contrast.

The field is read as u, 0 at the low end of what is typical of it and 1 at the high end. In all families z^p is a line
in u: with p = 1 that is depth, with p = −1 inverse depth, and p → 0 is log depth. The contrast C is what ln z gains
from u = 0 to u = 1; so ln z = shift + ln(1 + (exp(p C) − 1) u) / p, which has no zero between the ends, whatever C is.
"""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from mrac.conventions import FloatArray
from mrac.space import SPACES, Space

POWERS: Final[dict[Space, float]] = {"depth": 1.0, "inverse_depth": -1.0, "log_depth": 0.0}
_MOST_BENT: Final = 12.0  # of p · C: a factor of 160,000 between the ends is a line that all but reaches zero
_STEEPEST: Final = 5.0  # beyond the ends, of the mean slope between them
_SMALLEST: Final = 1e-3  # of the low end: what ln x takes for the least value


class Prior(NamedTuple):
    """What is believed of relations before the readings are seen.

    Attributes:
        slope_std: relative standard deviation of the contrast where the field's own is believed.
        contrast: median of the contrast of scenes, where the field's own says nothing.
        contrast_std: standard deviation of its logarithm.
        unshifted: probability that depth, or inverse depth, comes without the unknown shift.
        undeclared: probability that the field is not what it is declared to be.
    """

    slope_std: float
    contrast: float
    contrast_std: float
    unshifted: float
    undeclared: float


@dataclass(frozen=True, kw_only=True)
class Relation:
    """One family.

    Attributes:
        space: in which it is a line.
        of_log: whether u is a line in ln x, not in x, and ln z one in u: then z is a power of x.
        rising: whether depth grows with x.
        contrast: what is believed of C, as its median.
        contrast_std: relative deviation: of a normal distribution where `own`, else of a log-normal one.
        own: whether the median is the field's own contrast.
        declared: whether this is what the field is said to be.
        probability: before the readings.
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
        """For a person."""
        line = "power of x" if self.of_log else f"line in {self.space}"
        return line if self.declared else f"{'rising' if self.rising else 'falling'} {line}"

    @property
    def power(self) -> float:
        """The p of the module's formula."""
        return 0.0 if self.of_log else POWERS[self.space]

    def contrasts(self, deviations: FloatArray) -> FloatArray:
        """C, signed, at so many standard deviations from the median; any shape."""
        relative = self.contrast_std * deviations
        size = self.contrast * (1.0 + relative if self.own else np.exp(relative))
        return np.asarray(size if self.rising else -size)

    def u(self, x: FloatArray, low: float, high: float) -> FloatArray:
        """The field's values `x`, any shape, as u."""
        if self.of_log:
            x, low, high = np.log(np.maximum(x, _SMALLEST * low)), math.log(low), math.log(high)
        return np.asarray((x - low) / (high - low))


def relations(space: Space, native: bool, low: float, high: float, prior: Prior) -> list[Relation]:
    """All that come into question for a field that is typically from `low` to `high`, and declared to be of `space`."""
    found: list[Relation] = []

    def add(
        kind: Space, rising: bool, probability: float, *, declared: bool = False, own: float = 0.0, of_log: bool = False
    ) -> None:
        found.append(
            Relation(
                space=kind,
                of_log=of_log,
                rising=rising,
                contrast=own or prior.contrast,
                contrast_std=prior.slope_std if own else prior.contrast_std,
                own=own > 0.0,
                declared=declared,
                probability=probability,
            )
        )

    undeclared = prior.undeclared if native else 1.0
    likely, rises = 1.0 - undeclared, space != "inverse_depth"
    if native and space == "log_depth":
        add(space, rises, likely, declared=True, own=high - low)
    elif native:
        has_log = low > 1e-30 and high > 1.001 * low
        unshifted = prior.unshifted if has_log else 0.0
        add(space, rises, likely * (1.0 - unshifted), declared=True)
        if has_log:  # without a shift, a contrast that is off may still come as one, or as a power
            own = math.log(high / low)
            add(space, rises, likely * unshifted / 2, declared=True, own=own)
            add(space, rises, likely * unshifted / 2, declared=True, own=own, of_log=True)
    already = {(r.space, r.rising) for r in found if not r.own}
    others = [(kind, rising) for kind in SPACES for rising in (True, False) if (kind, rising) not in already]
    for kind, rising in others:
        # A field of log depth whose contrast is far off is still what it was declared to be.
        add(kind, rising, undeclared / len(others), declared=native and (kind, rising) == (space, rises))
    return found


def curves(u: FloatArray, contrast: FloatArray, power: FloatArray) -> FloatArray:
    """Log depth up to a shift; all three broadcast. Beyond the ends of u it goes on straight, and not too steeply."""
    straight = power == 0.0
    p = np.where(straight, 1.0, power)
    bent = np.clip(p * contrast, -_MOST_BENT, _MOST_BENT)
    bent = np.where(np.abs(bent) < 1e-6, 1e-6, bent)
    inside = np.log1p(np.expm1(bent) * np.clip(u, 0.0, 1.0)) / p
    steepest = _STEEPEST * np.abs(bent / p)
    below = np.clip(np.expm1(bent) / p, -steepest, steepest) * np.minimum(u, 0.0)
    above = np.clip(-np.expm1(-bent) / p, -steepest, steepest) * np.maximum(u - 1.0, 0.0)
    return np.where(straight, contrast * u, inside + below + above)

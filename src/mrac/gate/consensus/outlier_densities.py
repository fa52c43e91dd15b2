"""How wrong readings are spread: in a few broad ways."""

import math
from typing import Final

import numpy as np

from mrac.conventions import BoolArray, FloatArray

_NEAR: Final = (math.log(0.15), math.log(0.8))  # of z over the surroundings: what multipath makes of a reading
_FAR: Final = (math.log(1.2), math.log(6.0))  # the same, of a beam that passes an edge and hits what lies behind
_ANYWHERE: Final = 2.5  # in log depth, to either side
_SENTINEL: Final = 20.0  # density of a value that repeats: as if it were five per cent wide
_FLOOR: Final = 1e-3  # density of a kind of error where it does not occur: nothing is impossible
KINDS: Final = ("near", "far", "range", "anywhere", "sentinel")


class Densities:
    """Of a wrong reading in log depth, by `KINDS`; those that do not depend on the field are computed once.

    Args:
        z_m: (K,) the readings.
        repeated: (K,) whether many have the same value; without such there is no sentinel among the kinds.

    Attributes:
        before: (C,) how many readings of each of `KINDS` the prior counts for: multipath is what sensors are known for.
    """

    def __init__(self, z_m: FloatArray, repeated: BoolArray) -> None:
        self._in_range = z_m / max(float(np.ptp(z_m)), 1e-3 * float(z_m.max()))
        self._sentinel = np.where(repeated, _SENTINEL, _FLOOR)
        self.before = np.array([2.0, 1.0, 1.0, 1.0, 1.0][: len(KINDS) if repeated.any() else len(KINDS) - 1])

    def __call__(self, residual_SK: FloatArray) -> FloatArray:
        """(S, C, K)."""
        near, far, anywhere = (_even(residual_SK, *limits) for limits in (_NEAR, _FAR, (-_ANYWHERE, _ANYWHERE)))
        in_range, sentinel = (np.broadcast_to(part, residual_SK.shape) for part in (self._in_range, self._sentinel))
        return np.stack([near, far, in_range, anywhere, sentinel], axis=1)[:, : self.before.size]


def _even(residual: FloatArray, low: float, high: float) -> FloatArray:
    return np.where((residual > low) & (residual < high), 1.0 / (high - low), _FLOOR)

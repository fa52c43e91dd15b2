"""A relation between relative values and log depth that need not be a line."""

from dataclasses import dataclass, field

import numpy as np

from mrac.conventions import FloatArray


@dataclass(frozen=True, eq=False)
class Curve:
    """Log depth as a function of relative values: straight between knots, and on from the first and the last.

    Attributes:
        x: (N,) knots, increasing, N >= 2.
        log_depth: (N,) at the knots, depth in metres.
        beliefs: the probability of each relation that was blended, by name.
    """

    x: FloatArray
    log_depth: FloatArray
    beliefs: dict[str, float] = field(default_factory=dict)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Log depth at `x`, any shape."""
        inside = np.interp(x, self.x, self.log_depth)
        first, last = (np.diff(self.log_depth)[i] / np.diff(self.x)[i] for i in (0, -1))
        return np.asarray(inside + first * np.minimum(x - self.x[0], 0.0) + last * np.maximum(x - self.x[-1], 0.0))

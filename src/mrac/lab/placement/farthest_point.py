"""Each anchor as far in pixels from those before it as a valid pixel can be; the first is random."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrac.lab.placement.base import AnchorPlacement, Candidates


@dataclass(frozen=True)
class FarthestPoint(AnchorPlacement):
    """Exact; of equally far pixels the first in reading order."""

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `AnchorPlacement`."""
        H, W = candidates.valid.shape
        reach = math.hypot(H, W)
        # Squared distance to the nearest anchor so far; whole numbers, so that ties are ties.
        distance = np.where(candidates.valid, np.int64(2) ** 40, np.int64(-1))
        rows, columns = np.arange(H, dtype=np.int64), np.arange(W, dtype=np.int64)
        chosen = np.empty(count, np.intp)
        for k in range(count):
            chosen[k] = rng.choice(candidates.pixels) if k == 0 else distance.argmax()
            v, u = divmod(int(chosen[k]), W)
            if k:
                # No pixel is farther from the anchors than this one was, so none beyond that is nearer to it.
                reach = math.sqrt(float(distance[v, u]))
            r = math.ceil(reach)
            window = (slice(max(v - r, 0), v + r + 1), slice(max(u - r, 0), u + r + 1))
            to_new = (rows[window[0], None] - v) ** 2 + (columns[window[1]] - u) ** 2
            np.minimum(distance[window], to_new, out=distance[window])
        return chosen


IMPLEMENTATION = FarthestPoint

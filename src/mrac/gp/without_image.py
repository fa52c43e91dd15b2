"""Where readings lie among the features when nobody has looked at the image: by position and relative depth alone."""

import math

import numpy as np

from mrac.conventions import FloatArray
from mrac.gp.features import Lengths
from mrac.gp.posterior import FARTHEST, NUM_FEATURES


def places(uv_px: FloatArray, x: FloatArray | None, x_range: tuple[float, float], lengths: Lengths) -> FloatArray:
    """(K, NUM_FEATURES) in length scales, as `Features.at` would give them, colour and region 0.

    Args:
        uv_px: (K, 2).
        x: (K,) relative depth, or None where there is none.
        x_range: from where to where the relative field typically is.
        lengths: what counts as far.
    """
    spans = np.ptp(uv_px, axis=0)
    # The readings span most of the image, unless they lie on a line.
    side = max(math.sqrt(spans[0] * spans[1]), 0.3 * float(spans.max()), 1.0)
    found = np.zeros((len(uv_px), NUM_FEATURES))
    found[:, :2] = uv_px / (lengths.position * side)
    if x is not None:
        low, high = x_range
        found[:, 7] = (x - low) / max(lengths.relative * (high - low), 1e-30)
    return np.clip(found, -FARTHEST, FARTHEST)

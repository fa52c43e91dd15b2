"""Positions clipped to the image: points that the camera does not see, moved to its border."""

from typing import Final

import numpy as np

from mrac.checks.evidence import Evidence
from mrac.checks.finding import Finding

_SHARE: Final = 0.15  # of the readings, on the outermost pixels, which are under 2 % of all in any usual image
_FEWEST: Final = 5


def check(evidence: Evidence) -> Finding | None:
    """Many readings lie on the outermost rows and columns."""
    uv = evidence.readings.uv_px
    H, W = evidence.shape
    if min(H, W) < 32 or not len(uv) or uv.max() <= 1.0:  # fractions of the image are not at its border
        return None
    u, v = uv.T
    at = evidence.inside(uv) & ((u < 0.5) | (u >= W - 1.5) | (v < 0.5) | (v >= H - 1.5))
    num = int(np.count_nonzero(at))
    if num < max(_FEWEST, _SHARE * len(uv)):
        return None
    return Finding(
        "at_border",
        f"{num} of {len(uv)} readings lie on the outermost pixels: positions look clipped to the image",
        "leave out points that fall outside the image in place of moving them to its border",
    )

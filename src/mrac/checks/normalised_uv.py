"""Positions from 0 to 1 in place of pixels."""

from typing import Final

from mrac.checks.evidence import Evidence
from mrac.checks.finding import Finding

_FEWEST: Final = 3  # readings; two may well lie in one corner pixel


def check(evidence: Evidence) -> Finding | None:
    """All positions lie within [0, 1], in an image of more than two pixels to a side."""
    uv = evidence.readings.uv_px
    H, W = evidence.shape
    if len(uv) < _FEWEST or uv.min() < 0.0 or uv.max() > 1.0 or min(H, W) <= 2:
        return None
    return Finding(
        "normalised_uv",
        f"all {len(uv)} positions lie between 0 and 1: fractions of the image, where pixels are needed",
        f"give u · {W} - 0.5 and v · {H} - 0.5, since pixel centres lie at integers; or --fix normalised_uv",
    )

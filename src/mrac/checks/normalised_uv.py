"""Positions from 0 to 1 in place of pixels."""

from typing import Final

from mrac.checks.evidence import Evidence
from mrac.checks.finding import Finding

_FEWEST: Final = 3  # readings; two may well lie in one corner pixel


def check(evidence: Evidence) -> Finding | None:
    """All positions lie within [0, 1], in an image of more than two pixels to a side."""
    num = len(evidence.readings)
    H, W = evidence.shape
    if num < _FEWEST or not evidence.has_fractions or min(H, W) <= 2:
        return None
    return Finding(
        "normalised_uv",
        f"all {num} positions lie between 0 and 1: fractions of the image, where pixels are needed",
        f"give u · {W} - 0.5 and v · {H} - 0.5, since pixel centres lie at integers; or --fix normalised_uv",
    )

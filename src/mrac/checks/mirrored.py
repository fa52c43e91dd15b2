"""Readings of the mirrored picture: left for right, or top for bottom."""

from mrac.checks.evidence import Evidence
from mrac.checks.finding import Finding
from mrac.checks.placement import Placement


def check(evidence: Evidence, placement: Placement | None) -> Finding | None:
    """Positions agree with the image only when mirrored."""
    if placement is None or placement.kind not in ("mirrored", "flipped"):
        return None
    H, W = evidence.shape
    sides, change = ("left and right", f"{W - 1} - u") if placement.kind == "mirrored" else ("top and bottom", "")
    change = change or f"{H - 1} - v"
    return Finding(
        "mirrored",
        f"the image looks mirrored against the readings, {sides} exchanged: they fit better so "
        f"(by {placement.gain:.0f} nats)",
        f"mirror the image back, or give {change} in place of {change[-1]}",
    )

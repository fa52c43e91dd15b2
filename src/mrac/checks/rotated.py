"""Readings of the picture before it was turned upright, or turned another way."""

from mrac.checks.evidence import Evidence
from mrac.checks.finding import Finding
from mrac.checks.placement import Placement


def check(evidence: Evidence, placement: Placement | None) -> Finding | None:
    """Positions agree with the image only when turned by 90, 180 or 270 degrees."""
    if placement is None or not placement.kind.startswith("rotated"):
        return None
    degrees = placement.kind.removeprefix("rotated_")
    return Finding(
        "rotated",
        f"the image looks turned by {degrees}° against the readings: turned back they fit better "
        f"(by {placement.gain:.0f} nats)",
        "give positions in the upright picture, as a viewer shows it, or turn the image as the sensor saw it",
    )

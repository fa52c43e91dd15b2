"""Rows given for columns: u and v exchanged."""

from mrac.checks.evidence import Evidence
from mrac.checks.finding import Finding
from mrac.checks.placement import Placement


def check(evidence: Evidence, placement: Placement | None) -> Finding | None:
    """Positions agree with the image only with u and v exchanged."""
    if placement is None or placement.kind != "swapped_uv":
        return None
    H, W = evidence.shape
    return Finding(
        "swapped_uv",
        f"u and v look swapped: {placement.outside:.0%} of the positions lie outside the {W}×{H} image, and exchanged "
        f"they fit it better (by {placement.gain:.0f} nats)",
        "give u, the column, first and v, the row, second; or --fix swapped_uv",
    )

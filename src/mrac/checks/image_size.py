"""Positions in pixels of the same picture at another size."""

from mrac.checks.evidence import Evidence
from mrac.checks.finding import Finding
from mrac.checks.placement import Placement


def check(evidence: Evidence, placement: Placement | None) -> Finding | None:
    """Positions agree with the image only when rescaled from another size."""
    if placement is None or placement.kind != "image_size":
        return None
    (H, W), (width, height) = evidence.shape, placement.size
    return Finding(
        "image_size",
        f"positions look like pixels of a {width}×{height} image, this one is {W}×{H} (width × height): "
        f"{placement.outside:.0%} lie outside, and rescaled they fit better (by {placement.gain:.0f} nats)",
        f"scale u by {W / width:.4g} and v by {H / height:.4g}, or give the image of that size; or --fix image_size",
    )

"""Graduated non-convexity (Yang et al. 2020): truncated least squares, without random sampling."""

from dataclasses import dataclass

from mrac.gate._inliers import InlierGate
from mrac.robust_line.gnc import GncOptions


@dataclass(frozen=True, kw_only=True)
class GncGate(GncOptions, InlierGate):
    """Keeps the anchors within `threshold` of the line that truncated least squares settles on."""


IMPLEMENTATION = GncGate

"""MSAC (Torr and Zisserman 2000): the line with the least truncated squared error among those through two anchors."""

from dataclasses import dataclass

from mrac.gate._inliers import InlierGate
from mrac.robust_line.msac import MsacOptions


@dataclass(frozen=True, kw_only=True)
class MsacGate(MsacOptions, InlierGate):
    """Keeps the anchors within `threshold` of the best line through two of them, fitted once more to its inliers.

    Like RANSAC it fails on correlated dropouts: one value at many places is a line that fits without any error.
    """


IMPLEMENTATION = MsacGate

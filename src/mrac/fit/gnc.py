"""Graduated non-convexity (Yang et al. 2020): least squares on the inliers of truncated least squares."""

from dataclasses import dataclass

from mrac.fit._inliers import InlierFit
from mrac.robust_line.gnc import GncOptions


@dataclass(frozen=True, kw_only=True)
class Gnc(GncOptions, InlierFit):
    """An anchor within `threshold` of the line has its squared error as loss, one beyond it a constant."""


IMPLEMENTATION = Gnc

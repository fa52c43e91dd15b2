"""MSAC (Torr and Zisserman 2000): least squares on the inliers of the best line through two anchors."""

from dataclasses import dataclass

from mrac.fit._inliers import InlierFit
from mrac.robust_line.msac import MsacOptions


@dataclass(frozen=True, kw_only=True)
class Msac(MsacOptions, InlierFit):
    """Least squares on the inliers of the line through two anchors with the least truncated squared error."""


IMPLEMENTATION = Msac

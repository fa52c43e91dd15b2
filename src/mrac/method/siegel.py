"""Siegel's repeated median: its line and MAD test choose the anchors of a least-squares line."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="siegel_mad", fit="ols", head="affine")

"""Graduated non-convexity (Yang et al. 2020): the line of truncated least squares."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="gnc", head="affine")

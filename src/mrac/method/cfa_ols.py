"""Closed-form anchor fit by least squares in depth (paper row)."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ols", head="affine", space="depth")

"""Closed-form anchor fit by RANSAC in depth (paper row)."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ransac", head="affine", space="depth")

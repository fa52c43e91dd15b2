"""Closed-form anchor fit by Huber's estimator in depth (paper row)."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="huber", head="affine", space="depth")

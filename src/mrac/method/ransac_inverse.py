"""Marsal et al. (IROS 2025): RANSAC rescaling in inverse depth, everything within the scene's own spread agreeing."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ransac:trials=100", head="folded", space="inverse_depth")

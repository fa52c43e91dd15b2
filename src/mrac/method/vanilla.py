"""The residual head as published: every anchor is believed (paper row)."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ols", head="residual_unet:weights=vanilla", space="depth")

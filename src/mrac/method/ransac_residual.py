"""RANSAC with a fixed threshold before the vanilla head: the paper's obvious patch."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="ransac", fit="ols", head="residual_unet:weights=vanilla", space="depth")

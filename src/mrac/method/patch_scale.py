"""The fit times a smooth field of scales between patches: OMNI-DC (Zuo et al. 2025) without its network."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ols", head="patch_scale")

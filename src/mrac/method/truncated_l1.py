"""MoGe's alignment (Wang et al. 2025): the line in depth with the least truncated relative error, exactly."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="truncated_l1", head="affine", space="depth")

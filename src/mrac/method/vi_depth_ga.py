"""VI-Depth's global alignment alone: least squares in inverse depth within its ranges, no learner."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ols", head="sml:global_alignment_only=true", space="inverse_depth")

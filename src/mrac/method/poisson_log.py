"""The fit's slopes integrated through the anchors in log depth: OMNI-DC (Zuo et al. 2025) without its network."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ols", head="poisson_log")

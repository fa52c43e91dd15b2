"""PriorDA's coarse stage (Wang et al. 2025): a line in inverse depth for every pixel, from its five nearest anchors."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ols", head="knn_alignment", space="inverse_depth")

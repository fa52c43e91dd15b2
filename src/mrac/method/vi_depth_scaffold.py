"""VI-Depth without its learner: least squares in inverse depth, times the interpolated scale map."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ols", head="scaffold", space="inverse_depth")

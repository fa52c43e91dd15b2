"""VI-Depth retrained by us: its pipeline and its learner on the embedded network, at 150 readings."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ols", head="sml:weights=sml_retrained", space="inverse_depth")

"""The paper's method: Theil–Sen and MAD choose the anchors that the vanilla head sees, in one call."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="theil_sen_mad", fit="ols", head="residual_unet:weights=vanilla", space="depth")

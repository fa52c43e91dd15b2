"""The paper's gate before the B′ head."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="theil_sen_mad", fit="ols", head="residual_unet:weights=b_prime", space="depth")

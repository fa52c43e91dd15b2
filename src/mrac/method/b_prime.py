"""The residual head trained with anchors dropped at random, the paper's B′: augmentation in place of a gate."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ols", head="residual_unet:weights=b_prime", space="depth")

"""The head's network regressing depth itself, without a closed form (the paper's ablation)."""

from mrac.method._base import Method

IMPLEMENTATION = Method(gate="none", fit="ols", head="raw_unet:weights=raw_depth", space="depth")

"""VI-Depth as published: a MiDaS network and its checkpoint, which you fetch once; see docs/reference.md."""

from mrac.method._base import Method

# Of the seven networks that checkpoints exist for, the two SwinV2 are those that transformers runs at exactly the size
# and interpolation that VI-Depth feeds them with. In single precision, as VI-Depth does.
IMPLEMENTATION = Method(
    foundation="dpt-swinv2-large-384:resize=original,dtype=float32",
    gate="none",
    fit="ols",
    head="sml:predictor=dpt_swin2_large_384,budget=150",
    space="inverse_depth",
)

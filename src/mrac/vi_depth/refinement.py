"""Applies the scale-map learner to an alignment and its scale map: refined inverse depth."""

from collections.abc import Callable

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.vi_depth.predictors import Standardisation
from mrac.vi_depth.ranges import Ranges
from mrac.vi_depth.resize import learner_shape, resize_cubic

# (1, 2, h, w) float32 network input to (1, 1, h, w) float32 scale, >= 0. Torch's is `network.predict_scale`.
Learner = Callable[[FloatArray], FloatArray]


def refine(
    aligned_per_m: FloatArray,
    unit_scale: FloatArray,
    standardisation: Standardisation,
    ranges: Ranges,
    learner: Learner,
) -> FloatArray:
    """The alignment times the learner's scale: (H, W) float32 inverse depth, 1/m.

    These are VI-Depth's own numbers: clamped at the network's resolution, then resized bicubically, which overshoots.
    `Ranges.depth_m` converts them to depth.

    Args:
        aligned_per_m: (H, W) inverse depth of the alignment.
        unit_scale: (H, W) scale map in [0, 1], `ScaleMap.unit`.
        standardisation: of the predictor and budget that the learner was trained for.
        ranges: the limits of the prediction.
        learner: the network.

    Raises:
        ContractError: the network's output is not finite.
    """
    H, W = aligned_per_m.shape
    shape = learner_shape((H, W))
    small_per_m, small_scale = resize_cubic(aligned_per_m, shape), resize_cubic(unit_scale, shape)
    scale = learner(network_input(small_per_m, small_scale, standardisation))[0, 0]
    if not np.isfinite(scale).all():
        raise ContractError("vi_depth: the network gives values that are not finite; other weights are needed")
    return resize_cubic(np.clip(small_per_m * scale, *ranges.inv_limits_per_m), (H, W))


def network_input(inv_z_per_m: FloatArray, unit_scale: FloatArray, standardisation: Standardisation) -> FloatArray:
    """(1, 2, h, w) float32 from inverse depth and scale map of (h, w) each, in this order."""
    s = standardisation
    channels = [
        (inv_z_per_m - s.inv_z_mean_per_m) / s.inv_z_std_per_m,
        (unit_scale - s.scale_mean) / s.scale_std,
    ]
    return np.stack(channels)[None].astype(np.float32)

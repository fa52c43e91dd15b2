"""Which anchors can be used at all, and the reason why each other one cannot."""

import numpy as np

from mrac.conventions import BoolArray, TextArray
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M
from mrac.types import Anchors

USABLE = ""


def validity(anchors: Anchors, shape: tuple[int, int], has_value: BoolArray | None) -> TextArray:
    """One reason per anchor: `USABLE`, or why it is not; the first that applies, in the order below.

    Args:
        anchors: K of them.
        shape: (H, W) of the image.
        has_value: (H, W), where the relative depth has a value; None without relative depth.

    Returns:
        (K,) of `not_finite`, `not_positive`, `out_of_range` (under a millimetre or over ten kilometres), `bad_sigma`
        (not finite, or negative), `out_of_image`, `no_relative_value`, `duplicate` (the position of an earlier usable
        anchor), or `USABLE`.
    """
    H, W = shape
    u, v = anchors.uv_px.T
    z = anchors.z_m
    reason = np.full(len(anchors), USABLE, dtype="<U17")
    finite = np.isfinite(u) & np.isfinite(v) & np.isfinite(z)
    inside = (u >= -0.5) & (u < W - 0.5) & (v >= -0.5) & (v < H - 0.5)
    if has_value is not None:
        row = np.clip(np.rint(np.where(inside, v, 0.0)), 0, H - 1).astype(np.intp)
        column = np.clip(np.rint(np.where(inside, u, 0.0)), 0, W - 1).astype(np.intp)
        reason[~has_value[row, column]] = "no_relative_value"
    reason[~inside] = "out_of_image"
    if anchors.sigma_m is not None:
        reason[~(np.isfinite(anchors.sigma_m) & (anchors.sigma_m >= 0.0))] = "bad_sigma"
    reason[(z < MIN_DEPTH_M) | (z > MAX_DEPTH_M)] = "out_of_range"
    reason[z <= 0.0] = "not_positive"
    reason[~finite] = "not_finite"
    usable = np.flatnonzero(reason == USABLE)
    _, first = np.unique(anchors.uv_px[usable], axis=0, return_index=True)
    repeated = np.ones(usable.size, np.bool_)
    repeated[first] = False
    reason[usable[repeated]] = "duplicate"
    return reason

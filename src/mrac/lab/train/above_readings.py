"""How far away what lies above every reading is at least: a scanner looks level, and a camera sees tree tops.

Without it a network is free there, and puts leaves and house fronts above the highest reading at a metre.
"""

from typing import Final

import numpy as np
from scipy import ndimage

from mrac.conventions import FloatArray

_BESIDE: Final = 31  # columns: the nearest of them speaks for all, since crowns overhang
_HIGHEST: Final = 12  # rows below a column's highest reading from which its depth is taken
_SHARE: Final = 0.4  # of that depth: a crown may stand before the wall below it, but not much
HORIZON: Final = 0.5  # of the height: what a foundation sees in a street below it can be taken for the truth


def bound_above(z_m: FloatArray) -> FloatArray:
    """Depth (H, W) in which every pixel without a reading above its column's highest one holds −(least distance).

    What stands on the ground goes up, or something farther is seen above it. So the least distance is a share of the
    nearest depth at the upper end of the readings in the columns around.

    Args:
        z_m: (H, W) metres; 0 is "not measured", infinite the sky.

    Returns:
        (H, W), readings and sky as they were; columns without a reading nearby keep their zeros.
    """
    H = z_m.shape[0]
    measured = (z_m > 0) & np.isfinite(z_m)
    rows = np.arange(H)[:, None]
    first_row = np.where(measured.any(axis=0), measured.argmax(axis=0), H)
    upper_end = measured & (rows < first_row + _HIGHEST)
    nearest = np.where(upper_end, z_m, np.inf).min(axis=0)
    nearest = ndimage.minimum_filter1d(nearest, _BESIDE, mode="nearest")
    above = (z_m == 0) & (rows < first_row) & np.isfinite(nearest)
    return np.where(above, -_SHARE * nearest, z_m).astype(np.float32)


def only_below_horizon(z_m: FloatArray) -> FloatArray:
    """Depth (H, W) that a network saw in a street, forgotten above the horizon: there networks like it were wrong."""
    rows = np.arange(z_m.shape[0])[:, None]
    return np.where((rows < HORIZON * z_m.shape[0]) & np.isfinite(z_m), 0.0, z_m).astype(np.float32)

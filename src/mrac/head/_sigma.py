"""Standard deviations that are one share of depth for the whole image."""

import numpy as np

from mrac.conventions import FloatArray
from mrac.space import SIGMA_SHARE


def uniform_sigma(depth_m: FloatArray, share: float) -> FloatArray:
    """(H, W) deviation that is one share of an (H, W) depth everywhere, the share clipped to `SIGMA_SHARE`."""
    return np.asarray(depth_m * np.float32(np.clip(share, *SIGMA_SHARE)))


def rms(log_residuals: FloatArray) -> float:
    """Root mean square of (K,) residuals of log depth, K >= 1: to first order a share of depth."""
    return float(np.sqrt(np.mean(log_residuals**2)))

"""The Gaussian process of gate and head at K readings, seen from a trend whose shift is unknown."""

import numpy as np

from mrac.conventions import FloatArray
from mrac.gp.features import Lengths
from mrac.gp.posterior import Readings, posterior
from mrac.gp.without_image import places
from mrac.types import Samples


class Process:
    """K readings, whitened: what a trend leaves over is compared without the shift that explains most of it.

    Args:
        samples: K of them, of weight > 0.
        x_range: from where to where the relative field typically is.
        noise_var: (K,) in units of the amplitude's variance.

    Attributes:
        log_z: (K,).
        shift_var: variance of the shift of a given trend, in units of the amplitude's.
    """

    def __init__(self, samples: Samples, x_range: tuple[float, float], noise_var: FloatArray) -> None:
        self.log_z = np.log(samples.z_m)
        alike = samples.alike
        if alike is None:
            alike = places(samples.uv_px, samples.x, x_range, Lengths())
        readings = Readings(np.ascontiguousarray(alike, np.float32), noise_var, self.log_z)
        self._whitener = posterior(readings)[0].whitener[: len(samples)].astype(np.float64)
        ones = self._whitener.sum(axis=1)
        self.shift_var = 1.0 / float(ones @ ones)
        self._per_shift = ones * self.shift_var
        # Whitens, and takes away what a shift explains.
        self._whitener_left = self._whitener - np.outer(ones, self._per_shift @ self._whitener)
        self._precision = (self._whitener_left**2).sum(axis=0)

    def left_over(self, trend: FloatArray) -> FloatArray:
        """(..., K) what a trend (..., K) leaves of the readings at its best shift, whitened."""
        return np.asarray((self.log_z - trend) @ self._whitener_left.T)

    def shift(self, trend: FloatArray) -> FloatArray:
        """(...,) the best shift of a trend (..., K)."""
        return np.asarray((self.log_z - trend) @ (self._per_shift @ self._whitener))

    def without_one(self, left: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(..., K) error of each reading against trend, shift and process of the others, and (K,) its variance.

        Args:
            left: (..., K) from `left_over`.

        Returns:
            The variance in units of the amplitude's; both from the inverse of the covariance (Rasmussen & Williams
            2006, eqs. 5.10–5.12), the unknown shift being part of it.
        """
        return np.asarray((left @ self._whitener_left) / self._precision), 1.0 / self._precision

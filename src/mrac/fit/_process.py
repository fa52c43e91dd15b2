"""The Gaussian process of gate and head at K readings, seen from a trend whose shift is unknown."""

import math

import numpy as np

from mrac.conventions import FloatArray
from mrac.likeness.features import Lengths
from mrac.likeness.matern import FARTHEST, NUM_FEATURES, Readings, posterior
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
        alike = _places(samples, x_range) if samples.alike is None else samples.alike
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


def student_log_density(error: FloatArray, var: FloatArray, tail: float) -> FloatArray:
    """Of Student's distribution of `tail` degrees of freedom and this variance; all broadcast."""
    scale2 = var * ((tail - 2.0) / tail)
    constant = math.lgamma(0.5 * (tail + 1.0)) - math.lgamma(0.5 * tail) - 0.5 * math.log(math.pi * tail)
    return np.asarray(constant - 0.5 * np.log(scale2) - 0.5 * (tail + 1.0) * np.log1p(error**2 / (tail * scale2)))


def _places(samples: Samples, x_range: tuple[float, float]) -> FloatArray:
    """(K, NUM_FEATURES) position and relative depth, in length scales, for want of an image."""
    assert samples.x is not None
    lengths, (low, high) = Lengths(), x_range
    spans = np.ptp(samples.uv_px, axis=0)
    # The readings span most of the image, unless they lie on a line.
    side = max(math.sqrt(spans[0] * spans[1]), 0.3 * float(spans.max()), 1.0)
    places = np.zeros((len(samples), NUM_FEATURES))
    places[:, :2] = samples.uv_px / (lengths.position * side)
    places[:, 7] = (samples.x - low) / (lengths.relative * (high - low))
    return np.clip(places, -FARTHEST, FARTHEST)

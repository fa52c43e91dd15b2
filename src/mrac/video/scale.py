"""The level of a frame's depth where readings are few: the network's own level, learned over the frames.

A network that gives log depth has a level of its own. Its error differs by 2 to 3 % from frame to frame (training
sequences): less than that of the level that five readings determine, some of them wrong. So the mean of that error is
followed, and the level of a frame is moved towards it by as much as the two variances say: with many readings, or with
readings that were carried over, next to nothing.
"""

from typing import Final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mrac.conventions import FloatArray
from mrac.gp.kernel import WeightedProcessOptions, covariance

_PROCESS: Final = WeightedProcessOptions(amplitude=0.1)
# Of the variance of a level by the process, stated noise aside: on training sequences half the deviation was right,
# with 10 and with 50 readings.
_OVERSTATED: Final = 0.25
_WRONG: Final = 10.0  # by so much more variance per share of rejected readings: others may have passed
_NETWORK_STD: Final = 0.05  # of the network's level around its mean, before any frame has told
_MIN_NETWORK_STD: Final = 0.03  # on training sequences, which the network has seen, it is 0.019 to 0.027
_LEARNING: Final = 0.1  # share of a new frame in mean and variance, at least
_CONSISTENT: Final = 3.0  # deviations, beyond which frame and network do not speak of one scene


def level_var(
    features: FloatArray, residual: FloatArray, weight: FloatArray, noise: FloatArray | None, rejected: float
) -> float:
    """Variance of the mean log depth of an image, given K readings: of a Gaussian process with an unknown shift.

    Args:
        features: (K + G, F) of the readings, K > 0, and of G points spread over the image.
        residual: (K,) log reading less the trend.
        weight: (K,) of the readings, in (0, 1].
        noise: (K,) stated standard deviation of each reading as a share of its depth, or None.
        rejected: share of the frame's readings that a gate rejected.
    """
    K, total = residual.size, covariance(features)
    noise_var = _PROCESS.noise_var(weight, noise, _PROCESS.amplitude)
    across = total[:K, K:].mean(axis=1)
    known = np.stack([np.ones(K), residual, across], axis=1)
    shift, field, spread = cho_solve(cho_factor(total[:K, :K] + np.diag(noise_var), lower=True), known).T
    shift_var = 1.0 / float(shift.sum())
    length2 = float(residual @ field) - shift_var * float(field.sum()) ** 2
    amplitude_var = float(_PROCESS.amplitude_var(_PROCESS.amplitude, length2, K - 1))
    missing = 1.0 - float(spread.sum())  # of the shift, whose error counts where no reading is near
    inside = float(total[K:, K:].mean() - across @ spread) + missing**2 * shift_var
    stated = 0.0
    if noise is not None:
        share = spread + missing * shift_var * shift  # of each reading in the level
        stated = float((share * np.minimum(noise, 1.0)) @ (share * np.minimum(noise, 1.0)))
    var = _OVERSTATED * amplitude_var * max(inside, 0.0) + (1.0 - _OVERSTATED) * stated
    return var * (1.0 + _WRONG * rejected)


class NetworkLevel:
    """The error of the network's level: its mean over the frames, and how much a frame differs from that."""

    def __init__(self) -> None:
        self._mean: float | None = None
        self._mean_var = 0.0
        self._var = _NETWORK_STD**2

    def change(self, error: float, var: float) -> float:
        """By how much the log depth of a frame is to change; the frame is then remembered.

        Args:
            error: mean relative (log) depth of the network less that of the frame as it was calibrated.
            var: of the level of the frame.
        """
        if self._mean is None:
            self._mean, self._mean_var = error, self._var + var
            return 0.0
        off, around = error - self._mean, self._mean_var + self._var
        if off * off > _CONSISTENT**2 * (around + var):  # the frame's readings are right: another scene, another lens
            self._mean, self._mean_var = error, self._var + var
            self._var = min(2.0 * self._var, 1.0)
            return 0.0
        gain = max(self._mean_var / (around + var), _LEARNING)
        self._mean += gain * off
        seen = max(off * off - self._mean_var - var, 0.0)
        self._mean_var = (1.0 - gain) ** 2 * self._mean_var + gain**2 * (self._var + var)
        self._var = max((1.0 - _LEARNING) * self._var + _LEARNING * seen, _MIN_NETWORK_STD**2)
        return off * var / (around + var)

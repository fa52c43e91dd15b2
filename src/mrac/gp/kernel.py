"""The kernel of the Gaussian process and its parameters: Matérn 3/2 at two scales, over scaled features.

With M(d) = (1 + √3 d) exp(−√3 d), the covariance of two points at distance d is, in units of the amplitude's square,
M(d) + FINE_VAR · M(FINE · d) + BIAS_VAR: rooms and walls, the things in them, and a common offset. A point is
`NUM_FEATURES` numbers: two of position, three of colour, two of region and one of relative depth (zero where unused).
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mrac.conventions import FloatArray
from mrac.runtime.jit import shared

NUM_FEATURES: Final = 8
RELATIVE: Final = 7  # the feature that is relative depth
# Set on the training pack. Against one scale, two lower the error by 2 % at 50 and at 200 anchors alike.
FINE: Final = 5.0
FINE_VAR: Final = 0.2
BIAS_VAR: Final = 1.0
PRIOR_VAR: Final = 1.0 + FINE_VAR + BIAS_VAR  # of any point, before any observation
FARTHEST: Final = 100.0  # in length scales: nothing is correlated from there on, and squares must stay finite
SQRT3: Final = math.sqrt(3.0)


@dataclass(frozen=True, kw_only=True)
class ProcessOptions:
    """The parameters of the process that gate, fit and head have in common; each sets defaults of its own.

    Attributes:
        amplitude: prior standard deviation of the residual of log depth around the fit.
        noise: standard deviation of a reading as a share of the amplitude.
    """

    amplitude: float = 0.2
    noise: float = 0.06


@dataclass(frozen=True, kw_only=True)
class WeightedProcessOptions(ProcessOptions):
    """Options of a process whose observations have weights, and whose amplitude is estimated from each image.

    Attributes:
        soft_noise: a reading of weight w gets (1 − w) · soft_noise more variance, as a share of the amplitude's: a
            likely outlier should count little even where it is the only reading, where noise / w would still be small.
        prior_anchors: how many readings the prior amplitude counts for.
    """

    soft_noise: float = 0.02
    prior_anchors: float = 4.0

    def noise_var(self, weight: Any, relative_sigma: FloatArray | None = None, amplitude: float = 1.0) -> Any:
        """(K,) noise variances in units of the amplitude's square; of numpy or of torch, as `weight` is.

        Args:
            weight: (K,) of the readings, in (0, 1].
            relative_sigma: (K,) stated standard deviation of each reading as a share of its depth, or None.
            amplitude: the prior one, which counts where a deviation is stated.
        """
        var = self.noise**2 + self.soft_noise * (1.0 - weight)
        if relative_sigma is not None:
            var = var + np.minimum(relative_sigma / amplitude, 1e6) ** 2
        return var / weight

    def amplitude_var(self, prior: float, mahalanobis2: Any, num: float, share: float = 1.0) -> Any:
        """Estimate of the amplitude's square from `num` residuals of that squared Mahalanobis length.

        The prior amplitude counts for `prior_anchors` readings more; the residuals for a `share` of their number, where
        they are not independent evidence.
        """
        return (self.prior_anchors * prior**2 + share * mahalanobis2) / (self.prior_anchors + share * num)


@shared
def matern32(s: Any, exp_s: Any, var: Any = 1.0) -> Any:
    """The Matérn 3/2 covariance var · (1 + s) exp(−s) at s = √3 d, given exp(−s).

    The caller brings the exponential, so that this one line serves numpy, compiled kernels and torch.
    """
    return var * (1.0 + s) * exp_s


@shared
def two_scales(s: Any, exp_s: Any, exp_fine: Any) -> Any:
    """The whole covariance at s = √3 d, given exp(−s) and exp(−FINE · s); see `matern32`."""
    return matern32(s, exp_s) + BIAS_VAR + matern32(FINE * s, exp_fine, FINE_VAR)


def covariance(features_KF: FloatArray) -> FloatArray:
    """(K, K) covariance without the common offset, in units of the amplitude's square."""
    d = distances(features_KF)
    coarse, fine = (matern32(s, np.exp(-s)) for s in (SQRT3 * d, SQRT3 * (FINE * d)))
    return np.asarray(coarse + FINE_VAR * fine)


def distances(points_KF: FloatArray) -> FloatArray:
    """(K, K) Euclidean distances between (K, F) points."""
    square = (points_KF * points_KF).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(square[:, None] + square[None] - 2.0 * points_KF @ points_KF.T, 0.0)))

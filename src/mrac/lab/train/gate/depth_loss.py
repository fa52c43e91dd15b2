"""Depth error of the head `kriging` as a differentiable function of the readings' weights, in torch.

The same process, noise and doubt as in the head; in place of the fit, a shift that is unknown and a slope that is
nearly one belong to the process. So the depth has a gradient with respect to every reading's weight.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from mrac.gp.kernel import FINE, SQRT3, two_scales
from mrac.head.kriging import Kriging

_SHIFT_STD: Final = 2.0  # in log depth
_SLOPE_STD: Final = 0.2
_MIN_WEIGHT: Final = 1e-4
_FARTHEST: Final = 1.5  # error in log depth: more is all the same


class Target(NamedTuple):
    """K readings as the head sees them, and M pixels whose depth is known.

    Attributes:
        features: (K, NUM_FEATURES) float32.
        x: (K,) float32 relative log depth.
        log_z: (K,) float32 readings.
        at: (M, NUM_FEATURES) float32.
        at_x: (M,) float32 relative log depth.
        log_truth: (M,) float32.
    """

    features: NDArray[np.float32]
    x: NDArray[np.float32]
    log_z: NDArray[np.float32]
    at: NDArray[np.float32]
    at_x: NDArray[np.float32]
    log_truth: NDArray[np.float32]


class DepthLoss:
    """B scenes, conditioned on as many readings as the one with the most has; those that are none weigh nothing.

    Args:
        targets: B of them, with the same number of pixels each.
        head: whose constants count.
    """

    def __init__(self, targets: Sequence[Target], head: Kriging) -> None:
        self._head = head
        features, x, log_z, at, at_x, log_truth = (_padded(part) for part in zip(*targets, strict=True))
        self.there = _padded([np.ones_like(target.x) for target in targets])
        num = self.there.sum(dim=1, keepdim=True)
        middle, offset = ((values * self.there).sum(dim=1, keepdim=True) / num for values in (x, log_z - x))
        self._error, self._wanted = (log_z - x - offset) * self.there, log_truth - at_x - offset
        x, at_x = (x - middle) * self.there, at_x - middle
        self._between = self._covariance(features, features, x, x) * self.there[:, :, None] * self.there[:, None, :]
        self._towards = self._covariance(at, features, at_x, x) * self.there[:, None, :]

    def abs_rel(self, weight_BK: Tensor) -> Tensor:
        """(B,) mean relative error over the pixels of each scene, if its readings have these weights."""
        weight, head = weight_BK.clamp(_MIN_WEIGHT, 1.0), self._head
        noise = head.amplitude**2 * head.noise_var(weight)
        noise = torch.where(self.there > 0.0, noise, torch.ones(()))
        lower = torch.linalg.cholesky(self._between + torch.diag_embed(noise + 1e-6))
        error = (self._towards @ torch.cholesky_solve(self._error[:, :, None], lower))[:, :, 0] - self._wanted
        return torch.expm1(error.clamp(-_FARTHEST, _FARTHEST)).abs().mean(dim=1)

    def _covariance(self, a: Tensor, b: Tensor, a_x: Tensor, b_x: Tensor) -> Tensor:
        """(B, n, m) of points with features (B, n, F) and (B, m, F), where relative depth is (B, n) and (B, m)."""
        s = SQRT3 * torch.cdist(a, b)
        process: Tensor = two_scales(s, torch.exp(-s), torch.exp(-FINE * s))
        trend = _SHIFT_STD**2 + _SLOPE_STD**2 * a_x[:, :, None] * b_x[:, None, :]
        return self._head.amplitude**2 * process + trend


def _padded(parts: Sequence[NDArray[np.float32]]) -> Tensor:
    return pad_sequence([torch.from_numpy(part) for part in parts], batch_first=True)

"""The Gaussian process on a device: covariance of points, and the density of leave-one-out residuals."""

import math

import torch
from torch import Tensor

from mrac.gp.kernel import FINE, SQRT3, two_scales
from mrac.gpu.kernels.process import pairs
from mrac.gpu.kernels.source import in_use


def process_covariance(a: Tensor, b: Tensor) -> Tensor:
    """(B, n, m) covariance of points with features (B, n, F) and (B, m, F), in units of the amplitude's square."""
    if in_use():
        return pairs(a, b, "covariance_at")
    s = SQRT3 * distances(a, b)
    covariance: Tensor = two_scales(s, torch.exp(-s), torch.exp(-FINE * s))
    return covariance


def distances(a: Tensor, b: Tensor) -> Tensor:
    """(B, n, m) Euclidean distances between points (B, n, F) and (B, m, F).

    From differences: from squares and products, which cdist prefers, single precision would lose near points.
    """
    return pairs(a, b, "") if in_use() else torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")


def position_distances(positions_QK2: Tensor) -> Tensor:
    """(Q, K, K) distances between positions, float64 of single precision numbers, bit for bit those of the reference.

    At whole pixels readings are often equally far from each other, and rounding decides which counts as the nearer. So
    it is done here as in `mrac.gp.kernel.distances`: products of such numbers are exact, and the sums have two terms.
    """
    u, v = positions_QK2.unbind(2)
    square = u * u + v * v
    product = u[:, :, None] * u[:, None] + v[:, :, None] * v[:, None]
    return (square[:, :, None] + square[:, None] - 2.0 * product).clamp(min=0.0).sqrt()


def student_t_log_density(error: Tensor, var: Tensor, dof: float) -> Tensor:
    """Log density, scaled to have the variance `var`; see `mrac.gp.linear_algebra.student_t_log_density`."""
    scale2 = var * ((dof - 2.0) / dof)
    constant = math.lgamma(0.5 * (dof + 1.0)) - math.lgamma(0.5 * dof) - 0.5 * math.log(math.pi * dof)
    return constant - 0.5 * torch.log(scale2) - 0.5 * (dof + 1.0) * torch.log1p(error**2 / (dof * scale2))

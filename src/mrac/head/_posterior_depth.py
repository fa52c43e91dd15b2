"""Depth and standard deviation in metres from the posterior of log depth, row by row, in one compiled pass."""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.gp.upsampling import upsample_row
from mrac.runtime.jit import kernel
from mrac.space import MAX_DEPTH_M, MIN_DEPTH_M, SIGMA_SHARE

_NEAREST, _FARTHEST = np.float32(math.log(MIN_DEPTH_M)), np.float32(math.log(MAX_DEPTH_M))
_LEAST_SHARE, _LARGEST_SHARE = (np.float32(share) for share in SIGMA_SHARE)
_MAX_STD: Final = np.float32(0.5)  # in log depth, beyond which the point estimate is not moved any farther
_MAX_STATED: Final = np.float32(2.5)  # in log depth: a factor of twelve to either side
_MAX_EXPONENT: Final = np.float32(20.0)  # of the exponential below; no depth comes near
_PER_LOG2: Final = np.float32(1.0 / math.log(2.0))
# ln 2 as a number whose multiples are exact, and the rest.
_LOG2: Final = np.float32(0.693359375)
_LOG2_REST: Final = np.float32(math.log(2.0) - 0.693359375)


class Field(NamedTuple):
    """Posterior of the residual of log depth at the nodes of a grid; see `gp.features.PixelFeatures`.

    Attributes:
        mean: (rows, columns) float32.
        std: (rows, columns) float32 standard deviation.
        step: pixels between nodes.
    """

    mean: NDArray[np.float32]
    std: NDArray[np.float32]
    step: int


class Rendering(NamedTuple):
    """What is the same at all pixels; float32 in the units of log depth.

    Attributes:
        shrink: times the variance, the point estimate lies nearer than the median.
        sigma_factor: times the posterior's standard deviation is the one stated.
        extrapolation: standard deviation per unit of log depth beyond the readings.
        low, high: range of the readings; infinite where there are none.
    """

    shrink: np.float32
    sigma_factor: np.float32
    extrapolation: np.float32
    low: np.float32
    high: np.float32


@kernel
def exponential(x: NDArray[np.float32], bits: NDArray[np.int32]) -> None:
    """exp(x) of (n,) values within ±20, which others are clipped to, in place: right to 2e-7 of the value.

    As 2^k exp(r) with |r| <= ln 2 / 2, by the series of exp(r): vector code, where a call of exp would be none. Powers
    of two are written as the exponents of floats, into `bits` (n,).
    """
    powers = bits.view(np.float32)
    for p in range(x.size):
        at = min(max(x[p], -_MAX_EXPONENT), _MAX_EXPONENT)
        k = np.int32(at * _PER_LOG2 + np.float32(64.5)) - np.int32(64)  # positive numbers are cut off downwards
        r = at - np.float32(k) * _LOG2
        r -= np.float32(k) * _LOG2_REST
        high = np.float32(1 / 24) + r * (np.float32(1 / 120) + r * (np.float32(1 / 720) + r * np.float32(1 / 5040)))
        x[p] = np.float32(1.0) + r * (np.float32(1.0) + r * (np.float32(0.5) + r * (np.float32(1 / 6) + r * high)))
        bits[p] = (k + np.int32(127)) << np.int32(23)
    for p in range(x.size):
        x[p] *= powers[p]


@kernel
def render(
    trend: NDArray[np.float32],
    field: Field,
    top: int,
    constants: Rendering,
    depth_m: NDArray[np.float32],
    sigma_m: NDArray[np.float32],
) -> None:
    """Writes depth and its standard deviation, metres, of rows from `top` on.

    Of a log-normal posterior, exp(mean − variance) has the least expected relative error; where the variance is large
    it lies nearer than the median. The deviation is half the width of the interval of one to either side,
    (exp(m + s) − exp(m − s)) / 2, and larger where the median lies beyond the readings, to either side.

    Args:
        trend: (n, W) log depth.
        field: posterior of the residual.
        top: the first of the n rows.
        constants: of the image.
        depth_m: (n, W), overwritten.
        sigma_m: (n, W), overwritten.
    """
    shrink, sigma_factor, extrapolation, low, high = constants
    mean_nodes, std_nodes, step = field
    W = trend.shape[1]
    median, std = np.empty(W, np.float32), np.empty(W, np.float32)
    between, bits = np.empty(mean_nodes.shape[1] + 1, np.float32), np.empty(W, np.int32)
    for i in range(trend.shape[0]):
        upsample_row(mean_nodes, step, top + i, between, median)
        upsample_row(std_nodes, step, top + i, between, std)
        row, depth, sigma = trend[i], depth_m[i], sigma_m[i]
        for p in range(W):
            median[p] += row[p]
            s = min(std[p], _MAX_STD)
            depth[p] = min(max(median[p] - shrink * (s * s), _NEAREST), _FARTHEST)
            beyond = max(median[p] - high, low - median[p], np.float32(0.0)) * extrapolation
            stated = np.sqrt(std[p] * std[p] + beyond * beyond)
            std[p] = min(sigma_factor * stated, _MAX_STATED)
        exponential(depth, bits)
        exponential(median, bits)
        exponential(std, bits)
        for p in range(W):
            half_width = median[p] * (std[p] - np.float32(1.0) / std[p]) * np.float32(0.5)
            sigma[p] = min(max(half_width, _LEAST_SHARE * depth[p]), _LARGEST_SHARE * depth[p])

"""Log-normal distribution of a pixel's depth from the predicted depth (its median) and standard deviation."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray, as_number
from mrac.errors import ContractError

_BEYOND: Final = 1e30  # metres: farther than any depth, and single precision still holds its ratio to one


def log_deviation(depth_m: FloatArray, sigma_m: FloatArray) -> NDArray[np.float32]:
    """Standard deviation s of ln depth, any shape.

    One s to either side is the interval from depth · exp(−s) to depth · exp(s), and `sigma_m` is half its width:
    depth · sinh(s).
    """
    ratio = np.divide(sigma_m, depth_m, dtype=np.float32)
    return np.arcsinh(ratio, out=ratio)


def probability_nearer(depth_m: FloatArray, sigma_m: FloatArray, d_m: float) -> NDArray[np.float32]:
    """Probability that a pixel is nearer than `d_m` metres, for depth and deviation of any shape.

    Raises:
        ContractError: `d_m` is not a finite number > 0.
    """
    from scipy.special import ndtr  # noqa: PLC0415  (half a second, which `mrac list` should not wait for)

    d_m = as_number(d_m, "probability_nearer: a distance in metres is needed, as probability_nearer(2.0)")
    if not (math.isfinite(d_m) and d_m > 0.0):
        raise ContractError(f"probability_nearer: a distance of {d_m} m arrived; metres, finite and > 0, are needed")
    limit = np.float32(min(max(d_m, 1.0 / _BEYOND), _BEYOND))
    off = np.divide(limit, depth_m, dtype=np.float32)  # in place from here: at 50 megapixels every copy counts
    np.log(off, out=off)
    off /= log_deviation(depth_m, sigma_m)
    return np.asarray(ndtr(off, out=off))


def interval(depth_m: FloatArray, sigma_m: FloatArray, level: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The central interval that holds the depth with probability `level`, for depth and deviation of any shape.

    Raises:
        ContractError: `level` is not between 0 and 1.
    """
    from scipy.special import ndtri  # noqa: PLC0415  (as above)

    level = as_number(level, "interval: a probability between 0 and 1 is needed, as interval(0.9)")
    deviations = float(ndtri(0.5 + 0.5 * level))
    if not (math.isfinite(deviations) and deviations > 0.0):
        raise ContractError(f"interval: a level of {level} arrived; a probability between 0 and 1 is needed, as 0.9")
    factor = log_deviation(depth_m, sigma_m)
    factor *= np.float32(deviations)
    np.exp(factor, out=factor)
    return np.divide(depth_m, factor, dtype=np.float32), np.multiply(depth_m, factor, dtype=np.float32)

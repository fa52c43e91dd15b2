"""Conversion between depth and the spaces depth, inverse depth and log depth, clipped to a finite range."""

from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from mrac.conventions import FloatArray
from mrac.errors import ContractError, shown

Space = Literal["depth", "inverse_depth", "log_depth"]
SPACES: Final[tuple[Space, ...]] = get_args(Space)
# y is a power of depth; of log depth, the limit. So dy / d ln z is power · y, and 1 in log depth.
POWERS: Final[dict[Space, float]] = {"depth": 1.0, "inverse_depth": -1.0, "log_depth": 0.0}

# Depth converted from any space is clipped to this range: an affine fit in inverse depth reaches zero, one in depth
# goes below it, and both must give a finite positive depth. A millimetre to ten kilometres excludes no sensor.
MIN_DEPTH_M: Final = 1e-3
MAX_DEPTH_M: Final = 1e4
# What a standard deviation may be, as a share of the depth: an exact fit through two anchors has no residual, and a
# line that leaves the valid range has no finite uncertainty; neither may end as zero or as infinity.
SIGMA_SHARE: Final = (1e-3, 10.0)


def as_space(name: object) -> Space:
    """Returns `name` as a space.

    Raises:
        ContractError: it is not one of `SPACES`.
    """
    for space in SPACES:
        if isinstance(name, str) and name == space:
            return space
    raise ContractError(f"space: {shown(name)} is not a space; one of {', '.join(SPACES)} is needed")


def to_space(z_m: ArrayLike, space: Space) -> FloatArray:
    """Depth in metres, any shape, > 0, to `space`."""
    z = np.asarray(z_m, dtype=np.float64)
    if space == "inverse_depth":
        return np.asarray(1.0 / z)
    if space == "log_depth":
        return np.asarray(np.log(z))
    return z


def from_space(y: FloatArray, space: Space, min_m: float = MIN_DEPTH_M, max_m: float = MAX_DEPTH_M) -> FloatArray:
    """Values in `space`, any shape, to depth in metres clipped to [min_m, max_m].

    Clipping happens in `space`, before the reciprocal or the exponential, so no value overflows; inverse depth at or
    below zero is beyond infinity and becomes `max_m`. The dtype of `y` is kept.
    """
    clipped = _clip(y, space, min_m, max_m)
    if space == "inverse_depth":
        return np.asarray(1.0 / clipped)
    return np.exp(clipped) if space == "log_depth" else clipped


def log_from_space(y: FloatArray, space: Space, min_m: float = MIN_DEPTH_M, max_m: float = MAX_DEPTH_M) -> FloatArray:
    """The logarithm of `from_space`, computed without the exponential, in single precision: 1e-7 of the depth."""
    clipped = _clip(y, space, min_m, max_m).astype(np.float32)
    if space == "inverse_depth":
        return -np.log(clipped)
    return clipped if space == "log_depth" else np.log(clipped)


def _clip(y: FloatArray, space: Space, min_m: float, max_m: float) -> FloatArray:
    low, high = sorted(to_space([min_m, max_m], space))
    return np.clip(y, y.dtype.type(low), y.dtype.type(high))


def depth_std(depth_m: FloatArray, y_std: FloatArray, space: Space) -> FloatArray:
    """Standard deviation in metres of a depth whose value in `space` has standard deviation `y_std` (first order)."""
    if space == "inverse_depth":
        return np.asarray(y_std * depth_m**2)
    if space == "log_depth":
        return np.asarray(y_std * depth_m)
    return y_std


def bounded_sigma(depth_m: FloatArray, sigma_m: FloatArray) -> FloatArray:
    """The deviation clipped to `SIGMA_SHARE` of the depth; both in metres and of any one shape."""
    low, high = SIGMA_SHARE
    return np.clip(sigma_m, low * depth_m, high * depth_m)

"""Relative depth as a foundation that fails would give it, made from that of one that works: one function a fault.

A method of the benchmark has one by name: `default;fault=white_noise`.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy import ndimage

from mrac.conventions import FloatArray
from mrac.relative import in_space, resize_field
from mrac.types import RelativeDepth

Fault = Callable[[RelativeDepth, RelativeDepth, np.random.Generator], RelativeDepth]
"""From the field (H, W) of this image, that of another image, of any size, and a generator to a wrong field (H, W)."""

_BLUR: Final = 0.1  # standard deviation of blur and of smooth noise, as a share of the shorter side
_LEVELS: Final = 8


def white_noise(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """Independent normal noise, with the mean and the deviation of the field."""
    return _with_moments(rng.standard_normal(field.values.shape, np.float32), field)


def smooth_noise(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """Low-pass noise, with the mean and the deviation of the field."""
    return _with_moments(_smooth(rng.standard_normal(field.values.shape, np.float32)), field)


def other_image(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """The field of another image, stretched to this one's size."""
    shape = (field.values.shape[0], field.values.shape[1])
    return RelativeDepth(resize_field(other.values, shape), other.space)


def ramp_right(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """Farther from left to right, with the mean and the deviation of the field."""
    H, W = field.values.shape
    return _with_moments(np.broadcast_to(np.arange(W, dtype=np.float32), (H, W)), field)


def ramp_down(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """Farther from top to bottom, against the floor of most scenes, with the mean and the deviation of the field."""
    H, W = field.values.shape
    return _with_moments(np.broadcast_to(np.arange(H, dtype=np.float32)[:, None], (H, W)), field)


def upside_down(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """The rows in reverse: an image that was turned over for the network, and a field that was not turned back."""
    return RelativeDepth(field.values[::-1], field.space)


def blurred(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """Without details: a Gaussian of a tenth of the shorter side."""
    return RelativeDepth(_smooth(field.values), field.space)


def quantised(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """Eight levels between the least and the largest value."""
    low, high = float(field.values.min()), float(field.values.max())
    step = (high - low) / (_LEVELS - 1) or 1.0
    return RelativeDepth(low + step * np.rint((field.values - low) / step), field.space)


def log_as_inverse(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """Log depth that is said to be inverse depth: near and far change places."""
    return RelativeDepth(field.values, "inverse_depth")


def log_as_depth(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """Log depth that is said to be depth."""
    return RelativeDepth(field.values, "depth")


def inverse_as_log(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """Inverse depth that is said to be log depth: near and far change places."""
    return RelativeDepth(in_space(field, "inverse_depth").values, "log_depth")


def wrong_sign(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """The negative."""
    return RelativeDepth(-field.values, field.space)


def constant(field: RelativeDepth, other: RelativeDepth, rng: np.random.Generator) -> RelativeDepth:
    """The median everywhere: a network that says nothing."""
    return RelativeDepth(np.full_like(field.values, np.median(field.values)), field.space)


FAULTS: Final[dict[str, Fault]] = {
    fault.__name__: fault
    for fault in (
        white_noise,
        smooth_noise,
        other_image,
        ramp_right,
        ramp_down,
        upside_down,
        blurred,
        quantised,
        log_as_inverse,
        log_as_depth,
        inverse_as_log,
        wrong_sign,
        constant,
    )
}


def _smooth(values: FloatArray) -> FloatArray:
    return np.asarray(ndimage.gaussian_filter(values, _BLUR * min(values.shape), mode="nearest"))


def _with_moments(values: FloatArray, field: RelativeDepth) -> RelativeDepth:
    """Values (H, W) shifted and scaled to the mean and the deviation of a field, in its space."""
    standard = (values - values.mean()) / (values.std() or 1.0)
    return RelativeDepth(field.values.mean() + field.values.std() * standard, field.space)

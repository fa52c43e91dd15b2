"""Operations on a relative depth field: conversion to another space, hole filling, resizing, sampling."""

import math
from dataclasses import replace
from typing import Final

import numpy as np
from scipy import ndimage

from mrac.conventions import BoolArray, FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.pillow_resize import resized_field
from mrac.space import Space
from mrac.types import RelativeDepth, Samples

# A factor of e^20 to either side of the median exceeds the range of any scene, and is far from the limits of float32.
LOG_REACH = 20.0
RANGE_QUANTILES: Final = (0.02, 0.98)  # of a relative field: between them lies its range, without stray pixels
TYPICAL_PIXELS = 20_000  # enough for percentiles
_REACH = 2.5  # times the depth of an area's nearer quarter, beyond which nothing in it is measured: docs/sensors.md
PIXELS_BEYOND: Final = 1.15  # times the range of relative depth at the readings is about that of all pixels


def in_space(relative: RelativeDepth, space: Space) -> RelativeDepth:
    """The field converted to `space` if that is possible.

    Log depth up to a shift is depth up to a factor, so it converts to depth or to inverse depth. The other spaces have
    an unknown shift, which cannot be removed: such a field is returned as it is.
    """
    if relative.space != "log_depth" or space == "log_depth":
        return relative
    values = relative.values
    finite = np.isfinite(values)
    # Of halves: of an even number of values numpy adds two, which may be too large for single precision.
    middle = 2.0 * np.median(0.5 * values[finite]) if finite.any() else 0.0
    sign, far = (1.0, np.inf) if space == "depth" else (-1.0, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):  # NaN passes through, and what is beyond reach is clipped
        converted = np.exp(sign * np.clip(values - middle, -LOG_REACH, LOG_REACH))
    converted = np.where(finite, converted, np.where(values == np.inf, far, np.nan))
    return RelativeDepth(converted.astype(np.float32), space)


def without_relative(samples: Samples, space: Space = "log_depth") -> Samples:
    """The samples as they are without a foundation, to be fitted in `space`."""
    return replace(samples, x=None, native=False, x_range=None, space=space)


def finite_field(relative: RelativeDepth | None, image: ImageArray) -> tuple[FloatArray | None, BoolArray | None]:
    """The relative field of an image made finite, and where it had values of its own; two Nones without one.

    Raises:
        ContractError: it is of another size than the image, or has no finite value.
    """
    if relative is None:
        return None, None
    if relative.values.shape != image.shape[:2]:
        raise ContractError(
            f"RelativeDepth.values: shape {relative.values.shape} arrived, the image's {image.shape[:2]} is needed"
        )
    return fill_invalid(relative)


def fill_invalid(relative: RelativeDepth) -> tuple[FloatArray, BoolArray]:
    """The field with every pixel finite, and which pixels were finite before.

    Infinitely far (+inf in depth or log depth) becomes the farthest finite value; NaN and every other infinity takes
    the value of the nearest pixel that has one.

    Returns:
        (H, W) float32 finite values and (H, W) bool.

    Raises:
        ContractError: no pixel is finite.
    """
    values = relative.values
    finite = np.isfinite(values)
    if finite.all():
        return values, finite
    if not finite.any():
        raise ContractError(f"RelativeDepth.values: none of the {values.size} values is finite; at least one is needed")
    far = (values == np.inf) & (relative.space != "inverse_depth")
    filled = np.where(far, values[finite].max(), values)
    holes = ~(finite | far)
    if holes.any():
        nearest = ndimage.distance_transform_edt(holes, return_distances=False, return_indices=True)
        filled = filled[tuple(nearest)]
    return filled, finite


def typical_range(field: FloatArray) -> tuple[float, float]:
    """The 2nd and 98th percentile of a finite (H, W) field, from some 20,000 pixels.

    An estimate in double precision, interpolated between order statistics, for length scales: there a sample is enough
    and fast. `head._rendering.Normalisation` takes order statistics of all pixels, as its networks were trained on.
    """
    stride = max(1, math.isqrt(field.size // TYPICAL_PIXELS))
    return quantile_range(field[::stride, ::stride].astype(np.float64))


def quantile_range(values: FloatArray) -> tuple[float, float]:
    """The `RANGE_QUANTILES` of values of any shape."""
    low, high = np.quantile(values, RANGE_QUANTILES)
    return float(low), float(high)


def sample_bilinear(field: FloatArray, uv_px: FloatArray) -> FloatArray:
    """Values of an (H, W) field at (K, 2) sub-pixel positions; the half pixel around the border takes the edge value.

    Returns:
        (K,) float64.
    """
    H, W = field.shape
    u = np.clip(uv_px[:, 0], 0.0, W - 1.0)
    v = np.clip(uv_px[:, 1], 0.0, H - 1.0)
    u0 = np.minimum(u.astype(np.intp), max(W - 2, 0))
    v0 = np.minimum(v.astype(np.intp), max(H - 2, 0))
    u1, v1 = np.minimum(u0 + 1, W - 1), np.minimum(v0 + 1, H - 1)
    fu, fv = u - u0, v - v0
    top = field[v0, u0] * (1.0 - fu) + field[v0, u1] * fu
    bottom = field[v1, u0] * (1.0 - fu) + field[v1, u1] * fu
    return np.asarray(top * (1.0 - fv) + bottom * fv)


def sample_areas(field: FloatArray, uv_px: FloatArray, extent_px: FloatArray | None, space: Space) -> FloatArray:
    """Values of an (H, W) field at K readings, each a point or the area around it that it is the mean of.

    At a point, `sample_bilinear`. Over an area, that of the mean depth of the pixels whose centres lie in the rectangle
    and in the image (at its centre, where there is none): in log depth the logarithm of the mean of the exponentials,
    over the pixels that are `in_reach`. The scale of depth and inverse depth has an unknown shift, and the mean is
    taken in them.

    Args:
        field: finite.
        uv_px: (K, 2) positions.
        extent_px: (K, 2) width and height of the areas, 0 for a point; None where all are points.
        space: of the field.

    Returns:
        (K,) float64.
    """
    x = sample_bilinear(field, uv_px)
    if extent_px is None:
        return x
    size = np.array([field.shape[1], field.shape[0]])
    low = np.clip(np.ceil(uv_px - 0.5 * extent_px), 0, size).astype(np.intp)
    high = np.clip(np.ceil(uv_px + 0.5 * extent_px), 0, size).astype(np.intp)
    for i in np.flatnonzero((high > low).all(axis=1) & (extent_px > 0.0).any(axis=1)):
        area = field[low[i, 1] : high[i, 1], low[i, 0] : high[i, 0]].astype(np.float64)
        x[i] = area_means(area.reshape(1, -1), space)[0]
    return x


def area_means(values_KP: FloatArray, space: Space) -> FloatArray:
    """The value of the mean depth of each of K areas, from their P pixels in `space`: see `sample_areas`."""
    if space != "log_depth":
        return np.asarray(values_KP.mean(axis=1))
    seen = in_reach(values_KP)
    most = np.where(seen, values_KP, -np.inf).max(axis=1, keepdims=True)
    depth = np.where(seen, np.exp(np.minimum(values_KP - most, 0.0)), 0.0)
    return np.asarray(np.log(depth.sum(axis=1) / seen.sum(axis=1)) + most[:, 0])


def in_reach(log_depth: FloatArray) -> BoolArray:
    """Which pixels of an area (..., P) a sensor can have measured, from their log depth up to a shift.

    Sky and what lies far behind gives no echo, and would be most of a mean of depth. So pixels more than `_REACH` times
    as far as the nearer quarter of the area do not count.
    """
    return np.asarray(log_depth <= np.quantile(log_depth, 0.25, axis=-1, keepdims=True) + math.log(_REACH))


def resize_field(values: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """An (h, w) field resampled bilinearly to `shape` (H, W), in its own space, same field of view: float32."""
    if values.shape == shape:
        return values.astype(np.float32)
    return resized_field(values, shape)

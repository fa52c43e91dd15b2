"""Makes a relative depth field fit for use: converts it, fills its holes, resizes it, reads it between pixels."""

import math

import numpy as np
from PIL import Image
from scipy import ndimage

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError
from mrac.space import Space
from mrac.types import RelativeDepth

# A factor of e^20 to either side of the middle is more than any scene holds, and far from the ends of float32.
_LOG_REACH = 20.0
_TYPICAL_PIXELS = 20_000  # enough for percentiles
_BESIDE = (0.008, 0.015, 0.025, 0.04)  # of the shorter side: a beam's width, and how far a network blurs an edge


def in_space(relative: RelativeDepth, space: Space) -> RelativeDepth:
    """The field as a line in `space` should see it.

    Log depth up to a shift is depth up to a factor, so it converts, to depth or to inverse depth. The other spaces have
    an unknown shift, which nothing undoes: such a field is handed over as it is.
    """
    if relative.space != "log_depth" or space == "log_depth":
        return relative
    values = relative.values
    finite = np.isfinite(values)
    middle = np.median(values[finite]) if finite.any() else 0.0
    sign, far = (1.0, np.inf) if space == "depth" else (-1.0, 0.0)
    with np.errstate(invalid="ignore"):  # NaN passes through
        converted = np.exp(sign * np.clip(values - middle, -_LOG_REACH, _LOG_REACH))
    converted = np.where(finite, converted, np.where(values == np.inf, far, np.nan))
    return RelativeDepth(converted.astype(np.float32), space)


def fill_invalid(relative: RelativeDepth) -> tuple[FloatArray, BoolArray]:
    """The field with every pixel finite, and which pixels had a prediction of their own.

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
    """From where to where most of a finite (H, W) field lies: its 2nd and 98th percentile, from some 20,000 pixels."""
    stride = max(1, math.isqrt(field.size // _TYPICAL_PIXELS))
    low, high = np.percentile(field[::stride, ::stride].astype(np.float64), [2.0, 98.0])
    return float(low), float(high)


def range_beside(field: FloatArray, uv_px: FloatArray) -> FloatArray:
    """The least and the largest of an (H, W) field around (K, 2) positions, themselves included.

    Looked at are eight directions at four distances, up to 0.04 of the image's shorter side.

    Returns:
        (K, 2) float64.
    """
    H, W = field.shape
    angle = np.arange(8) * (np.pi / 4.0)
    reach = np.array(_BESIDE)[:, None] * min(H, W)
    du, dv = (np.append(0.0, reach * turn) for turn in (np.cos(angle), np.sin(angle)))
    u = np.clip(np.rint(uv_px[:, :1] + du), 0, W - 1).astype(np.intp)
    v = np.clip(np.rint(uv_px[:, 1:] + dv), 0, H - 1).astype(np.intp)
    around = field[v, u]
    return np.stack([around.min(axis=1), around.max(axis=1)], axis=1).astype(np.float64)


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


def resize_field(values: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """An (h, w) field resampled bilinearly to `shape` (H, W), in its own space, same field of view: float32."""
    if values.shape == shape:
        return values.astype(np.float32)
    field = Image.fromarray(values.astype(np.float32))
    return np.asarray(field.resize((shape[1], shape[0]), Image.Resampling.BILINEAR))

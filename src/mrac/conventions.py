"""Axes, units, invalid values, glossary and array types: everything in the package follows this page.

Pixels
    `u` runs right, `v` runs down; pixel centres lie at integers, so the first pixel's centre is (0, 0) and an
    (H, W) image covers -0.5 <= u < W - 0.5, -0.5 <= v < H - 0.5. Arrays are indexed [v, u].
    These are pixels of the picture as a viewer shows it: a photograph file is turned upright by its EXIF orientation
    before anything else, and readings, relative depth, sparse depth PNGs and results all refer to the upright one. An
    array is taken as it is.
Depth
    `z_m` is the distance along the optical axis in metres, not the length of the ray (`range_m`). Depth that this
    package returns is finite and greater than zero at every pixel.
Spaces
    `depth` z, `inverse_depth` 1/z and `log_depth` ln z. A relative field is known only up to y = a·x + b in its
    space; the space is part of its type (`RelativeDepth.space`).
Invalid values
    NaN in a relative field means "no prediction here". An anchor that cannot be used is never dropped: it keeps its
    place with `keep = False` and a reason.
Names
    Unit suffixes `_m`, `_px`; `num_` for counts; K anchors, an (H, W) image. Inside formulas, shapes are suffixes:
    `trends_SK` has shape (S, K).

Glossary
    anchor, reading: a metric depth at a pixel, from a range sensor or structure from motion.
    foundation: the frozen network that predicts relative depth from the image.
    relative depth: depth up to an unknown scale and shift, in a space; `x` where an anchor or a pixel samples it.
    gate: decides which anchors are inliers. *Keep* is the hard verdict; *outlier probability* is calibrated: of anchors
        with 0.3, 30 % are wrong; *weight*, in [0, 1], is how much fit and head use an anchor; *score* is the residual
        in robust standard deviations; *reason* is one word for a person.
    fit: the relation from relative depth to metric depth, fitted to the inliers.
    head: turns the fit into dense depth and its standard deviation.
    method: a named choice of foundation, gate, fit and head.
    sample: a usable anchor with the relative depth at its pixel: a point (x, y) of the relation that is fitted.
    trend, contrast: log depth by the relation alone; its rise over the range of relative depth.
    features, appearance, region: what the kernel compares of two pixels; the part from the image; edge-aware position.
    hypothesis, start: a set of inliers with its scale and amplitude; the guess that it was found from.
    status: `ok`, or the name of what made the scene as a whole hard to solve.
    residual field: metric log depth less the fit's, a smooth function over the image.
    Gaussian process, kernel, length scale, amplitude: the prior of the residual field (Rasmussen & Williams 2006).
    prior, posterior: before and after conditioning on the anchors; *prior-dominated*: few anchors nearby.
    kriging: the posterior mean of that process at every pixel.
    leave-one-out residual: an anchor's reading less its prediction from all others.
    evidence: marginal likelihood, by which hypotheses (a space, an amplitude, a set of inliers) are compared.
    multi-start initialisation: the search for inliers begins from several guesses of the scale.
    breakdown point: the largest share of outliers that an estimator withstands.
    calibrated: stated probabilities match frequencies.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mrac.errors import ContractError, shown

FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]
ImageArray = NDArray[np.uint8]
TextArray = NDArray[np.str_]

# By numpy's letter for a kind: what it would turn into a number without a word, and what the caller did not mean.
_NO_NUMBERS: Final = {
    "U": "text (float() makes a number of it)",
    "S": "text (float() makes a number of it)",
    "b": "truth values (astype(float) makes 0 and 1 of them)",
    "M": "dates",
    "m": "dates' differences",
    "c": "complex ones",
    "V": "a table of named columns",
}


def as_array(values: ArrayLike, name: str, missing: float = np.nan) -> NDArray[Any]:
    """`values` as an array, of any type; what a mask hides becomes `missing`.

    Raises:
        ContractError: they are not of one shape.
    """
    if isinstance(values, list | tuple) and any(isinstance(value, np.ma.MaskedArray) for value in values):
        values = [as_array(one, name, missing) if isinstance(one, np.ma.MaskedArray) else one for one in values]
    if isinstance(values, np.ma.MaskedArray):
        if values.dtype.kind not in "fiub":
            raise ContractError(f"{name}: a masked array of {values.dtype} arrived; numbers are needed")
        holes = np.ma.getmaskarray(values)
        return np.asarray(np.where(holes, missing, values.data) if np.isnan(missing) else values.filled(missing))
    try:
        return np.asarray(values)
    except (TypeError, ValueError):  # numpy's words on a ragged list are of its inner workings
        raise ContractError(f"{name}: numbers are needed, of one shape; rows of several lengths arrived") from None


def as_numbers(values: ArrayLike, name: str) -> FloatArray:
    """A float64 copy of `values`; NaN for None and for what a mask hides.

    Raises:
        ContractError: they are not real numbers, or not of one shape.
    """
    raw = as_array(values, name)
    what = _NO_NUMBERS.get(raw.dtype.kind)
    if raw.dtype.kind == "O":
        what = _NO_NUMBERS["U"] if any(isinstance(one, str | bytes) for one in raw.flat) else what
        what = _NO_NUMBERS["b"] if any(isinstance(one, bool | np.bool_) for one in raw.flat) else what
    if what is not None:
        raise ContractError(f"{name}: numbers are needed, {what} arrived")
    try:
        with np.errstate(all="ignore"):  # of damaged files: what is no number becomes NaN or infinite
            return raw.astype(np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ContractError(f"{name}: numbers are needed, but {error}") from None
    except OverflowError:
        raise ContractError(f"{name}: a number too large for any machine's arrived; up to 1.7e308 is needed") from None


def as_number(value: object, needed: str) -> float:
    """A scalar as a float; numpy's scalars and arrays of one value without axes are taken too.

    Args:
        value: what arrived.
        needed: begins the message: where, and what the right call looks like.

    Raises:
        ContractError: it is not one real number, or too large for one.
    """
    # What float() would take, and the caller did not mean.
    if not isinstance(value, bool | str | bytes | np.ma.MaskedArray) and getattr(value, "shape", ()) == ():
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            pass
    raise ContractError(f"{needed}; {shown(value)} arrived")


def in_image(uv_px: FloatArray, size: tuple[float, float]) -> BoolArray:
    """(..., K) which of (..., K, 2) positions lie in an image of (width, height); NaN does not."""
    return np.asarray(((uv_px >= -0.5) & (uv_px < np.array(size) - 0.5)).all(axis=-1))


def frozen_numbers(values: ArrayLike, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """A read-only float64 copy of `values`, checked against `shape` (None: any length)."""
    array = as_numbers(values, name)
    if array.size == 0 and len(shape) > 1 and 0 in shape:  # [] has no columns to count
        array = array.reshape([0 if n is None else n for n in shape])
    if array.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("K" if n is None else str(n) for n in shape)
        raise ContractError(f"{name}: an array of shape ({wanted}) is needed, shape {array.shape} arrived")
    array.setflags(write=False)
    return array

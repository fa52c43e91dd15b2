"""Anchors as a file stores them, before conversion to metres."""

from typing import NamedTuple

from numpy.typing import ArrayLike


class Stored(NamedTuple):
    """Anchors in the unit of the file.

    Attributes:
        uv_px: (K, 2) pixel positions.
        z: (K,) depths in the file's unit.
        sigma: (K,) standard deviations in the same unit, or None.
        per_metre: units per metre if the file or its format states it; None if the user must.
        shape: (H, W) of the image that the positions refer to, if the file states it.
        extent_px: (K, 2) of areas, or None.
        confidence: (K,) in [0, 1], or None.
        flag: (K,) one word each, "" without a fault, or None.
        is_range: whether `z` are lengths of rays, which only a camera can turn into depth.
        states_unit: whether `per_metre` is the file's own statement, not what is assumed of a file without one.
    """

    uv_px: ArrayLike
    z: ArrayLike
    sigma: ArrayLike | None = None
    per_metre: float | None = 1.0
    shape: tuple[int, int] | None = None
    extent_px: ArrayLike | None = None
    confidence: ArrayLike | None = None
    flag: ArrayLike | None = None
    is_range: bool = False
    states_unit: bool = True

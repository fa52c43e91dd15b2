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
    """

    uv_px: ArrayLike
    z: ArrayLike
    sigma: ArrayLike | None = None
    per_metre: float | None = 1.0
    shape: tuple[int, int] | None = None

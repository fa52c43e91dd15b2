"""What a reader finds in a file, before it is known how much of it makes a metre."""

from typing import NamedTuple

from numpy.typing import ArrayLike


class Stored(NamedTuple):
    """Readings as the file has them.

    Attributes:
        uv_px: (K, 2) pixel positions.
        z: (K,) depths in the file's unit.
        sigma: (K,) deviations in the same unit, or None.
        per_metre: that unit, where the file or its kind settles it; None where the user must say.
        shape: (H, W) of the image that the positions belong to, where the file knows it.
    """

    uv_px: ArrayLike
    z: ArrayLike
    sigma: ArrayLike | None = None
    per_metre: float | None = 1.0
    shape: tuple[int, int] | None = None

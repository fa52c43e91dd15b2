"""Corners of the image, as structure from motion tracks them: clustered on texture, none on plain walls."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.lab.placement.base import AnchorPlacement, Candidates
from mrac.registry import check_numbers

_WINDOW_PX: Final = 1.5  # standard deviation of the window of the structure tensor
_APART_PX: Final = 3  # half the side of the square in which a corner is the strongest
_MIN_STRENGTH: Final = 0.01  # of the strongest corner's; below that it is noise on a plain wall


@dataclass(frozen=True)
class Features(AnchorPlacement):
    """A random draw among the strongest corners of Shi and Tomasi; where corners are too few, the next best pixels.

    Attributes:
        excess: the draw is among so many times the number wanted; 1 takes the strongest.
    """

    excess: float = 4.0

    def __post_init__(self) -> None:
        check_numbers(self, 1.0, 1e6)

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `AnchorPlacement`."""
        if candidates.image is None:
            raise ContractError("placement features: no image arrived; the (H, W, 3) uint8 image is needed")
        strength = np.where(candidates.valid, corner_strength(candidates.image), -1.0)
        strongest_around = ndimage.maximum_filter(strength, 2 * _APART_PX + 1)
        is_corner = (strength >= strongest_around) & (strength > _MIN_STRENGTH * strength.max())
        shuffled = rng.permutation(candidates.pixels)
        ranked = shuffled[np.lexsort((-strength.reshape(-1)[shuffled], ~is_corner.reshape(-1)[shuffled]))]
        among = min(int(self.excess * count), int(np.count_nonzero(is_corner)))
        return ranked[rng.permutation(max(among, count))[:count]]


def corner_strength(image: ImageArray) -> FloatArray:
    """(H, W) the smaller eigenvalue of the structure tensor of an image (H, W, 3) in grey."""
    grey = image.mean(axis=2, dtype=np.float32)
    du, dv = ndimage.sobel(grey, axis=1), ndimage.sobel(grey, axis=0)
    uu, vv, uv = (ndimage.gaussian_filter(product, _WINDOW_PX) for product in (du * du, dv * dv, du * dv))
    return np.asarray((uu + vv) / 2.0 - np.hypot((uu - vv) / 2.0, uv))


IMPLEMENTATION = Features

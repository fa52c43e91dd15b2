"""The contract of a foundation: an image in, relative depth out, its space part of the answer."""

from abc import ABC, abstractmethod

import numpy as np
from PIL import Image

from mrac.conventions import FloatArray, ImageArray
from mrac.types import RelativeDepth


class Foundation(ABC):
    """A foundation is a frozen dataclass of its parameters; what it loads, it loads on first call."""

    @abstractmethod
    def __call__(self, image: ImageArray) -> RelativeDepth | None:
        """Relative depth of the size of `image` (H, W, 3) uint8, or None when this foundation has no opinion."""


def resize_field(values: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """An (h, w) field resampled bilinearly to `shape` (H, W), in its own space, same field of view: float32."""
    if values.shape == shape:
        return values.astype(np.float32)
    field = Image.fromarray(values.astype(np.float32), mode=None)
    return np.asarray(field.resize((shape[1], shape[0]), Image.Resampling.BILINEAR))

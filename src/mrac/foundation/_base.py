"""The contract of a foundation: an image in, relative depth out, its space part of the answer."""

from abc import ABC, abstractmethod

from mrac.conventions import ImageArray
from mrac.types import RelativeDepth


class Foundation(ABC):
    """A foundation is a frozen dataclass of its parameters; what it loads, it loads on first call."""

    @abstractmethod
    def __call__(self, image: ImageArray) -> RelativeDepth | None:
        """Relative depth of the size of `image` (H, W, 3) uint8, or None when this foundation has no opinion."""

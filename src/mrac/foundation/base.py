"""The contract of a foundation: an image in, relative depth and its space out."""

from abc import ABC, abstractmethod

from mrac.conventions import ImageArray
from mrac.types import RelativeDepth


class Foundation(ABC):
    """Predicts relative depth; a frozen dataclass of its parameters that loads its weights on the first call."""

    @abstractmethod
    def __call__(self, image: ImageArray) -> RelativeDepth | None:
        """Relative depth of the size of `image` (H, W, 3) uint8, or None if it predicts nothing."""

    @property
    def identity(self) -> str | None:
        """Text that names the model, its weights and everything else that changes its output, such as resize and dtype.

        Two foundations of one identity give the same field for the same image, so it is part of the cache key. None,
        which is the default, means that predictions are not cached. It is read before the first call, so it must not
        load the network.
        """
        return None

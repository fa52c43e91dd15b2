"""The contract of a foundation: an image in, relative depth out, its space part of the answer."""

from abc import ABC, abstractmethod

from mrac.conventions import ImageArray
from mrac.types import RelativeDepth


class Foundation(ABC):
    """A foundation is a frozen dataclass of its parameters; what it loads, it loads on first call."""

    @abstractmethod
    def __call__(self, image: ImageArray) -> RelativeDepth | None:
        """Relative depth of the size of `image` (H, W, 3) uint8, or None when this foundation has no opinion."""

    @property
    def identity(self) -> str | None:
        """Names the model, its weights and everything else that changes its output, such as the resize rule and dtype.

        Two foundations of one identity give the same field for the same image, so a field may be kept under it. None,
        which is the default, says that nothing here is worth keeping. It is asked for before the first call, so it
        must not load the network.
        """
        return None

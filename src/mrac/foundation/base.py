"""The contract of a foundation: an image in, relative depth and its space out."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.registry import function_name
from mrac.space import as_space
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

    @staticmethod
    def from_function(function: Callable[[ImageArray], Any], space: str = "inverse_depth") -> "Foundation":
        """A foundation of a plain function, which a `Calibrator` also takes as it is.

        Args:
            function: of an (H, W, 3) uint8 image, to (H, W) relative depth: numbers, numbers and their space as a
                tuple, or a `RelativeDepth`; None if there is no prediction.
            space: of bare numbers: `depth`, `inverse_depth` (what Depth Anything, MiDaS and DPT give) or `log_depth`.

        Raises:
            ContractError: `space` is none of these.
        """
        return FunctionFoundation(function, as_space(space))


@dataclass(frozen=True)
class FunctionFoundation(Foundation):
    """The relative depth of a plain function; see `Foundation.from_function`."""

    function: Callable[[ImageArray], Any]
    space: str = "inverse_depth"

    @property
    def stage_name(self) -> str:
        """The function's."""
        return function_name(self.function)

    @property
    def identity(self) -> str | None:
        """That of the callable where it has one; nothing of a function says whether it will give the same again."""
        named: str | None = getattr(self.function, "identity", None)
        return named

    def __call__(self, image: ImageArray) -> RelativeDepth | None:
        """See `Foundation`.

        Raises:
            ContractError: what the function returned is no (H, W) field of numbers.
        """
        result = self.function(image)
        if result is None or isinstance(result, RelativeDepth):
            return result
        values, space = result if _is_pair(result) else (result, self.space)
        try:
            return RelativeDepth(values, space)
        except (ContractError, ValueError) as error:
            raise ContractError(
                f"foundation {self.stage_name}: {error}; (H, W) numbers, (numbers, space) or a RelativeDepth is needed"
            ) from None


def _is_pair(result: object) -> bool:
    return isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], str)

"""The contract of an anchor placement: K different pixels out of the valid ones."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray
from mrac.errors import ContractError


class Candidates(NamedTuple):
    """The pixels of one image at which anchors may lie.

    Attributes:
        valid: (H, W) where an anchor may lie; at one pixel at least.
        pixels: (N,) the flat indices of `valid`, ascending.
        uncertainty: (H, W) of a first prediction, for the placements that ask for it.
    """

    valid: BoolArray
    pixels: NDArray[np.intp]
    uncertainty: FloatArray | None


class AnchorPlacement(ABC):
    """A placement is a frozen dataclass of its parameters; calling it draws, and keeps nothing."""

    def __call__(
        self, valid: BoolArray, num_anchors: int, rng: np.random.Generator, uncertainty: FloatArray | None = None
    ) -> NDArray[np.int64]:
        """Chooses pixels; the same generator gives the same ones.

        Args:
            valid: (H, W) where an anchor may lie.
            num_anchors: how many are wanted, >= 0; where fewer pixels are valid, all of them are taken.
            rng: settles everything that is left to chance.
            uncertainty: (H, W) of a first prediction, for the placements that ask for it.

        Returns:
            (K, 2) u, v of different valid pixels.

        Raises:
            ContractError: the shapes do not fit, the number is negative, or the uncertainty is needed and missing.
        """
        if valid.ndim != 2 or valid.dtype != np.bool_:
            raise ContractError(f"placement: valid is {valid.dtype} {valid.shape}; (H, W) booleans are needed")
        if num_anchors < 0:
            raise ContractError(f"placement: {num_anchors} anchors arrived; a number >= 0 is needed")
        if uncertainty is not None and uncertainty.shape != valid.shape:
            raise ContractError(
                f"placement: uncertainty is {uncertainty.shape}, valid {valid.shape}; the same shape is needed"
            )
        pixels = np.flatnonzero(valid)
        count = min(num_anchors, pixels.size)
        chosen = self.choose(Candidates(valid, pixels, uncertainty), count, rng) if count else pixels[:0]
        v, u = np.divmod(chosen, valid.shape[1])
        return np.stack([u, v], axis=1).astype(np.int64)

    @abstractmethod
    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """(count,) different ones of the candidates' `pixels`; 1 <= count <= their number."""

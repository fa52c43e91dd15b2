"""The contract of an anchor placement: K different pixels out of the valid ones, and the depth read at them."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import BoolArray, FloatArray, ImageArray
from mrac.errors import ContractError


class Candidates(NamedTuple):
    """The pixels of one image at which anchors may lie.

    Attributes:
        valid: (H, W) where an anchor may lie; at one pixel at least.
        pixels: (N,) the flat indices of `valid`, ascending.
        uncertainty: (H, W) of a first prediction, for the placements that ask for it.
        image: (H, W, 3) uint8 RGB, likewise.
        depth_m: (H, W) metres, finite where `valid`, likewise.
    """

    valid: BoolArray
    pixels: NDArray[np.intp]
    uncertainty: FloatArray | None = None
    image: ImageArray | None = None
    depth_m: FloatArray | None = None


class AnchorPlacement(ABC):
    """A placement is a frozen dataclass of its parameters; calling it draws, and keeps nothing."""

    def __call__(
        self,
        valid: BoolArray,
        num_anchors: int,
        rng: np.random.Generator,
        uncertainty: FloatArray | None = None,
        *,
        image: ImageArray | None = None,
        depth_m: FloatArray | None = None,
    ) -> NDArray[np.int64]:
        """Chooses pixels; the same generator gives the same ones.

        Args:
            valid: (H, W) where an anchor may lie.
            num_anchors: how many are wanted, >= 0; where fewer pixels are valid, or the sensor has fewer readings, all
                of them are taken.
            rng: settles everything that is left to chance.
            uncertainty: (H, W) of a first prediction, for the placements that ask for it.
            image: (H, W, 3) uint8 RGB, likewise.
            depth_m: (H, W) metres, finite where `valid`, likewise.

        Returns:
            (K, 2) u, v of different valid pixels.

        Raises:
            ContractError: the shapes do not fit, the number is negative, or what the placement needs is missing.
        """
        if valid.ndim != 2 or valid.dtype != np.bool_:
            raise ContractError(f"placement: valid is {valid.dtype} {valid.shape}; (H, W) booleans are needed")
        if num_anchors < 0:
            raise ContractError(f"placement: {num_anchors} anchors arrived; a number >= 0 is needed")
        for name, given in {"uncertainty": uncertainty, "image": image, "depth_m": depth_m}.items():
            if given is not None and given.shape[:2] != valid.shape:
                raise ContractError(
                    f"placement: {name} is {given.shape}, valid {valid.shape}; the same shape is needed"
                )
        pixels = np.flatnonzero(valid)
        count = min(num_anchors, pixels.size)
        candidates = Candidates(valid, pixels, uncertainty, image, depth_m)
        chosen = self.choose(candidates, count, rng) if count else pixels[:0]
        v, u = np.divmod(chosen, valid.shape[1])
        return np.stack([u, v], axis=1).astype(np.int64)

    @abstractmethod
    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """(count,) different ones of the candidates' `pixels`, or fewer where the sensor has fewer; count >= 1."""

    def read(self, depth_m: FloatArray, valid: BoolArray, uv_px: NDArray[np.int64]) -> FloatArray:
        """What the sensor says at the pixels that it chose: the depth there, unless it averages over an area.

        Args:
            depth_m: (H, W) metres.
            valid: (H, W) as it was for the choice.
            uv_px: (K, 2) of this placement.

        Returns:
            (K,) float64 metres.
        """
        return np.asarray(depth_m[uv_px[:, 1], uv_px[:, 0]], np.float64)

"""The network of the paper's residual head, regressing depth itself: no closed form (the paper's ablation)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrac.conventions import FloatArray
from mrac.head._learned import LearnedHead, Told
from mrac.head._weights import Kind
from mrac.head.base import Scene
from mrac.space import from_space


@dataclass(frozen=True, kw_only=True)
class RawUnet(LearnedHead):
    """Log depth and its uncertainty from the network; the fit is not looked at. Untrained, it says 3 m everywhere.

    Attributes:
        weights: a name in the package (`raw_depth`) or the path of an .onnx file of `mrac train`.
        num_pixels: larger images are shrunk to so many for the network; its log depth is enlarged bilinearly. 0 takes
            what the network was trained at.
    """

    weights: str = "raw_depth"
    num_pixels: int = 0

    kind: ClassVar[Kind] = "raw"
    rests_on_fit: ClassVar[bool] = False

    def defined(self, scene: Scene) -> bool:
        """See `LearnedHead`; there is nothing that it would need to correct."""
        return True

    def depth(self, scene: Scene, told: Told, x: FloatArray, maps: FloatArray) -> FloatArray:
        """See `LearnedHead`."""
        return from_space(maps[0].astype(np.float64), "log_depth")


IMPLEMENTATION = RawUnet

"""Depth regression without a fit: the residual head's network predicts log depth itself (the paper's ablation)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrac.conventions import FloatArray
from mrac.head._learned import LearnedHead, NetworkOutput
from mrac.head._weights import Kind
from mrac.head.base import Scene
from mrac.space import from_space


@dataclass(frozen=True, kw_only=True)
class RawUnet(LearnedHead):
    """Log depth and its uncertainty from the network; the fit is not used. Untrained, it gives 3 m everywhere.

    Attributes:
        weights: a name in the package (`raw_depth`) or the path of an .onnx file of `mrac train`.
        num_pixels: larger images are shrunk to so many for the network; its log depth is enlarged bilinearly. 0 takes
            the size of the network's training.
    """

    weights: str = "raw_depth"
    num_pixels: int = 0

    kind: ClassVar[Kind] = "raw"

    def correctable(self, scene: Scene) -> bool:
        """See `LearnedHead`; always, as it corrects nothing."""
        return True

    def depth(self, scene: Scene, output: NetworkOutput, x: FloatArray, maps: FloatArray) -> FloatArray:
        """See `LearnedHead`."""
        return from_space(maps[0].astype(np.float64), "log_depth")


IMPLEMENTATION = RawUnet

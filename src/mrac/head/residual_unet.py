"""Residual network on top of the closed-form fit: the paper's R_θ corrects it at every pixel (eqs. 2 and 3)."""

from dataclasses import dataclass
from typing import ClassVar

from mrac.conventions import FloatArray
from mrac.head._learned import LearnedHead, NetworkOutput
from mrac.head._weights import Kind
from mrac.head.base import Scene
from mrac.space import from_space


@dataclass(frozen=True, kw_only=True)
class ResidualUnet(LearnedHead):
    """y = (a + Δa)·x + (b + Δb), in the space of the fit, with Δa, Δb and the uncertainty from the network.

    Untrained, it is the affine head to the last bit. It corrects a line, so it needs anchors whose relative values
    differ; see `LearnedHead` for the result without.

    Attributes:
        weights: a name in the package (`vanilla`, `b_prime`) or the path of an .onnx file of `mrac train`.
        num_pixels: larger images are shrunk to so many for the network alone; depth is composed at full size. 0 takes
            the size of the network's training.
    """

    weights: str = "vanilla"
    num_pixels: int = 0

    kind: ClassVar[Kind] = "residual"

    def correctable(self, scene: Scene) -> bool:
        """See `LearnedHead`; without two different x there is no line."""
        return not scene.samples.flat

    def depth(self, scene: Scene, output: NetworkOutput, x: FloatArray, maps: FloatArray) -> FloatArray:
        """See `LearnedHead`; grouped as (a·x + b) + (Δa·x + Δb), so that without correction it is the fit exactly."""
        delta_a, delta_b = maps[:2]
        correction = output.unit * (delta_a * output.normalisation(x) + delta_b)
        return from_space(scene.fit(x) + correction, scene.samples.space)


IMPLEMENTATION = ResidualUnet

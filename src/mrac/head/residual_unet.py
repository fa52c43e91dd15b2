"""The paper's R_θ: a small network corrects the closed-form fit at every pixel (eqs. 2 and 3)."""

from dataclasses import dataclass
from typing import ClassVar

from mrac.conventions import FloatArray
from mrac.head._learned import LearnedHead, Told
from mrac.head._weights import Kind
from mrac.head.base import Scene
from mrac.space import from_space


@dataclass(frozen=True, kw_only=True)
class ResidualUnet(LearnedHead):
    """y = (a + Δa)·x + (b + Δb), in the space of the fit, with Δa, Δb and the uncertainty from the network.

    Untrained, it is the affine head to the last bit. It corrects a line, so it needs anchors whose relative values
    differ; see `LearnedHead` for what is given without.

    Attributes:
        weights: a name in the package (`vanilla`, `b_prime`) or the path of an .onnx file of `mrac train`.
        num_pixels: larger images are shrunk to so many for the network alone; depth is composed at full size. 0 takes
            what the network was trained at.
    """

    weights: str = "vanilla"
    num_pixels: int = 0

    kind: ClassVar[Kind] = "residual"

    def defined(self, scene: Scene) -> bool:
        """See `LearnedHead`; without two different x there is no line."""
        return not scene.samples.flat

    def depth(self, scene: Scene, told: Told, x: FloatArray, maps: FloatArray) -> FloatArray:
        """See `LearnedHead`; grouped as (a·x + b) + (Δa·x + Δb), so that without correction it is the fit exactly."""
        delta_a, delta_b = maps[:2]
        return from_space(scene.fit(x) + told.unit * (delta_a * told.normal(x) + delta_b), scene.samples.space)


IMPLEMENTATION = ResidualUnet

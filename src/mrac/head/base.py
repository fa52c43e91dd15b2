"""The contract of a head: from a fitted scene to dense metric depth."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from mrac.conventions import FloatArray, ImageArray
from mrac.gp.appearance import Looks
from mrac.space import Space
from mrac.types import FitResult, Samples


@dataclass(frozen=True, eq=False)
class Scene:
    """All that a head may look at.

    Attributes:
        image: (H, W, 3) uint8.
        relative: (H, W) float32, finite, or None when there is no relative field.
        samples: the anchors that the gate gave any weight.
        fit: the closed-form fit on those that it kept, of weight 0.5 or more.
        looks: of the image, where somebody has looked at it already.
    """

    image: ImageArray
    relative: FloatArray | None
    samples: Samples
    fit: FitResult
    looks: Looks | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(H, W)."""
        return self.image.shape[0], self.image.shape[1]


@dataclass(frozen=True, eq=False)
class HeadResult:
    """Dense depth.

    Attributes:
        depth_m: (H, W) float32, finite and > 0.
        sigma_m: (H, W) float32 standard deviation, finite and > 0.
        status: `ok` or a named degradation.
    """

    depth_m: FloatArray
    sigma_m: FloatArray
    status: str = "ok"


class Head(ABC):
    """A head is a frozen dataclass of its parameters; calling it computes, and keeps nothing.

    Attributes:
        rests_on_fit: whether its answer is the fit, corrected. If not, nothing but its training, or the readings around
            a pixel, holds it to the scene: one unlike any it was trained on, or any between them, may come out as
            another one.
    """

    rests_on_fit: ClassVar[bool] = True

    @property
    def trained_space(self) -> Space | None:
        """The space of the fits it was trained on, the only one it takes.

        None, for a head without training: it takes any, and where the relation is exact, so is its answer if it rests
        on the fit.
        """
        return None

    @abstractmethod
    def __call__(self, scene: Scene) -> HeadResult:
        """Dense depth for any image size and any number of anchors, including none."""

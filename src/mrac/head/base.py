"""The contract of a head: from a fitted scene to dense metric depth."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mrac.conventions import FloatArray, ImageArray
from mrac.gp.features import ImageAppearance
from mrac.space import Space
from mrac.stage_results import Need, checked
from mrac.types import FitResult, Samples


@dataclass(frozen=True, eq=False)
class Scene:
    """The input of a head.

    Attributes:
        image: (H, W, 3) uint8.
        relative: (H, W) float32, finite, or None when there is no relative field.
        samples: the anchors of any weight.
        fit: fitted to the inliers among them.
        appearance: of the image, shared with the gate; None where there is none yet.
    """

    image: ImageArray
    relative: FloatArray | None
    samples: Samples
    fit: FitResult
    appearance: ImageAppearance | None = None

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


def checked_head(head: object, result: Any, shape: tuple[int, int]) -> HeadResult:
    """`result`, in single precision, if it is depth of the image's `shape` (H, W); otherwise `ContractError`."""
    need = Need(shape, "f", float(np.finfo(np.float32).smallest_subnormal), words="finite numbers > 0")
    dense = checked("head", head, result, HeadResult, {"depth_m": need, "sigma_m": need})
    if dense.depth_m.dtype == dense.sigma_m.dtype == np.float32:
        return dense
    return replace(dense, depth_m=dense.depth_m.astype(np.float32), sigma_m=dense.sigma_m.astype(np.float32))


class Head(ABC):
    """A head is a frozen dataclass of its parameters; calling it computes, and keeps nothing."""

    @property
    def trained_space(self) -> Space | None:
        """The space of the fits it was trained on, the only one it takes.

        None, for a head without training: it takes any, and where the relation is exact, so is a depth that is the fit,
        corrected.
        """
        return None

    @abstractmethod
    def __call__(self, scene: Scene) -> HeadResult:
        """Dense depth for any image size and any number of anchors, including none."""

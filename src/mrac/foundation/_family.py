"""The contract of a family of transformers networks: prepares the input and reads the output at image size."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch.nn import functional

from mrac.conventions import FloatArray, ImageArray
from mrac.space import Space


class Family(ABC):
    """Preprocessing and postprocessing of the networks of one transformers class.

    Attributes:
        model_class: its name in transformers.
        load_options: further arguments of `from_pretrained`.
        space: of the output.
    """

    model_class: ClassVar[str]
    load_options: ClassVar[Mapping[str, Any]] = {}
    space: Space

    @abstractmethod
    def __init__(self, config: Any, stated: Mapping[str, Any], resize: str, where: str) -> None:
        """Takes the settings of one checkpoint.

        Args:
            config: transformers' configuration of the model.
            stated: the contents of `preprocessor_config.json`; empty if there is none.
            resize: `checkpoint` or `original`; see `HuggingFace`.
            where: start of an error message.

        Raises:
            ContractError: these settings are contradictory or not supported.
        """

    @abstractmethod
    def prepare(self, image: ImageArray) -> FloatArray:
        """The network's input (3, h, w) float32 for an image (H, W, 3) uint8."""

    @abstractmethod
    def finish(self, raw: torch.Tensor, shape: tuple[int, int]) -> torch.Tensor:
        """The network's output (h, w) float32 at the image's `shape` (H, W), safe to use in `space`."""

    @abstractmethod
    def trunk(self, model: Any) -> torch.nn.Module:
        """The part of the network that may run in half precision; the rest always runs in single precision."""

    def predict(self, model: Any, pixels: torch.Tensor) -> torch.Tensor:
        """The network's output (h, w) for its input (1, 3, h, w)."""
        output: torch.Tensor = model(pixel_values=pixels).predicted_depth[0]
        return output


def upsampled(raw: torch.Tensor, shape: tuple[int, int], mode: str, *, align_corners: bool = False) -> torch.Tensor:
    """An (h, w) map at `shape` (H, W)."""
    return functional.interpolate(raw[None, None], size=shape, mode=mode, align_corners=align_corners)[0, 0]


def inverse_depth(values: torch.Tensor) -> torch.Tensor:
    """Inverse depth clamped at 0 (infinity): bicubic resizing overshoots below it beside the sky. NaN stays NaN."""
    return values.clamp_min(0.0)


def metric_depth(raw: torch.Tensor, shape: tuple[int, int]) -> torch.Tensor:
    """An (h, w) map of metres at `shape` (H, W): bicubic, NaN ("no prediction") where it cannot be a depth.

    Beside a far background, bicubic resizing overshoots below zero at a near edge; there bilinear interpolation is
    used, which stays between its neighbours.
    """
    values = upsampled(raw, shape, "bicubic")
    if bool((values <= 0).any()):
        values = torch.where(values > 0, values, upsampled(raw, shape, "bilinear"))
    return possible_depth(values)


def possible_depth(values: torch.Tensor) -> torch.Tensor:
    """NaN, which is "no prediction", wherever a value cannot be a depth in metres."""
    return torch.where(torch.isfinite(values) & (values > 0), values, torch.nan)

"""Depth Anything 3 (mono or metric) through its own package; the sky comes out infinitely far."""

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from PIL import Image

from mrac.conventions import ImageArray
from mrac.errors import ContractError, MissingExtra, first_line
from mrac.foundation._checkpoint import Checkpoint, check_safetensors, locate
from mrac.foundation._placement import place
from mrac.foundation.base import Foundation
from mrac.options import check_numbers
from mrac.relative import resize_field
from mrac.types import RelativeDepth

# The package pins numpy below 2 and brings a viewer, a mapper and a video editor: without its dependencies.
_INSTALL = (
    "pip install --no-deps depth-anything-3 && pip install addict omegaconf einops opencv-python-headless torchvision"
)
_FILES = ("*.json", "*.safetensors")
# Where the network's own code draws the line between sky and the rest.
_SKY = 0.3


@dataclass(frozen=True)
class DepthAnything3(Foundation):
    """Depth up to scale (mono), or up to the focal length (metric): the anchors settle either.

    Attributes:
        model: a folder, or a hub id whose files are in the Hugging Face cache.
        resolution: the long side in pixels at which it works; 1008 suits frames as wide as KITTI's.
        device: `auto`, `cpu`, `cuda`, ... The package presumes a CUDA GPU.
    """

    model: str = "depth-anything/DA3MONO-LARGE"
    resolution: int = 504
    device: str = "auto"

    def __post_init__(self) -> None:
        check_numbers(self, 14, 4096, ("resolution",))

    def __call__(self, image: ImageArray) -> RelativeDepth:
        """See `Foundation`.

        Raises:
            ContractError: the package or the weights are not here or not usable; the message says what to do.
            MissingExtra: torch is not installed.
        """
        checkpoint = self._checkpoint()
        device = place(self.device, "float32", "foundation/da3").device
        network = _network(checkpoint, checkpoint.fingerprint, device)
        shape = (image.shape[0], image.shape[1])
        picture = Image.fromarray(image)
        if max(shape) > 2 * self.resolution:  # the last halving is left to the package's own filter
            picture.thumbnail((2 * self.resolution,) * 2, Image.Resampling.BOX, reducing_gap=2.0)
        try:
            prediction = network.inference([np.asarray(picture)], process_res=self.resolution)
        except (RuntimeError, AssertionError) as error:
            raise ContractError(f"foundation/da3: {self.model} did not run on {device}: {first_line(error)}") from None
        depth = np.asarray(prediction.depth, np.float32)
        if depth.ndim != 3 or depth.shape[0] != 1:
            raise ContractError(f"foundation/da3: depth of shape {depth.shape} arrived; (1, h, w) is needed")
        usable = np.isfinite(depth[0]) & (depth[0] > 0)
        values = resize_field(np.where(usable, depth[0], np.float32(np.nan)), shape)
        sky = getattr(prediction, "sky", None)
        if sky is not None:
            is_sky = Image.fromarray(np.asarray(sky, np.float32)[0] >= _SKY).resize(
                shape[::-1], Image.Resampling.NEAREST
            )
            values = np.where(np.asarray(is_sky), np.float32(np.inf), values)
        return RelativeDepth(values, "depth")

    @property
    def identity(self) -> str | None:
        """See `Foundation`; None while the weights are not on this machine or torch is not installed."""
        try:
            checkpoint = self._checkpoint()
            device = place(self.device, "float32", "foundation/da3").device
        except (ContractError, MissingExtra):
            return None
        # The number goes up with any change here that changes the output.
        return f"da3-1 {self.model} {checkpoint.fingerprint} {self.resolution} {device.partition(':')[0]}"

    def _checkpoint(self) -> Checkpoint:
        return locate(self.model, "foundation/da3", patterns=_FILES)


@lru_cache(maxsize=1)
def _network(checkpoint: Checkpoint, fingerprint: str, device: str) -> Any:
    where = f"foundation/da3: {checkpoint.name}"
    check_safetensors(checkpoint, where)
    try:
        api = import_module("depth_anything_3.api")
    except ImportError as error:
        raise ContractError(f"{where}: {error}. Install its package with: {_INSTALL}") from None
    try:
        return api.DepthAnything3.from_pretrained(str(checkpoint.folder)).to(device).eval()
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise ContractError(f"{where} could not be loaded: {first_line(error)}") from None


IMPLEMENTATION = DepthAnything3

"""Depth Anything 3 (mono or metric) through its own package; the sky is at infinite depth."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

import numpy as np
from PIL import Image

from mrac.conventions import ImageArray
from mrac.errors import ContractError, first_line
from mrac.foundation._checkpoint import Checkpoint, check_safetensors, locate
from mrac.foundation._device import ComputeDevice, resolve_device
from mrac.foundation._pretrained import Pretrained, import_package, resize_depth
from mrac.registry import check_numbers
from mrac.types import RelativeDepth

# The package pins numpy below 2 and brings a viewer, a mapper and a video editor: without its dependencies.
_INSTALL: Final = (
    "pip install --no-deps depth-anything-3 && pip install addict omegaconf einops opencv-python-headless torchvision"
)
_FILES: Final = ("*.json", "*.safetensors")
# The sky probability that the network's own code uses as its threshold.
_SKY: Final = 0.3


@dataclass(frozen=True)
class DepthAnything3(Pretrained):
    """Depth up to scale (mono), or up to the focal length (metric): the fit to the anchors finds either factor.

    Attributes:
        model: a folder, or a hub id whose files are in the Hugging Face cache.
        resolution: the long side in pixels of the network's input; 1008 suits frames as wide as KITTI's.
        device: `auto`, `cpu`, `cuda`, ... The package presumes a CUDA GPU.
    """

    version: ClassVar[str] = "da3-1"

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
        checkpoint, device = self._checkpoint(), self._device().name
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
        values = resize_depth(depth[0], shape)
        sky = getattr(prediction, "sky", None)
        if sky is not None:
            is_sky = Image.fromarray(np.asarray(sky, np.float32)[0] >= _SKY).resize(
                shape[::-1], Image.Resampling.NEAREST
            )
            values = np.where(np.asarray(is_sky), np.float32(np.inf), values)
        return RelativeDepth(values, "depth")

    def _checkpoint(self) -> Checkpoint:
        return locate(self.model, "foundation/da3", patterns=_FILES)

    def _device(self) -> ComputeDevice:
        return resolve_device(self.device, "float32", "foundation/da3")

    def _settings(self, device: ComputeDevice) -> str:
        return f"{self.resolution} {device.kind}"


@lru_cache(maxsize=1)
def _network(checkpoint: Checkpoint, fingerprint: str, device: str) -> Any:
    where = f"foundation/da3: {checkpoint.name}"
    check_safetensors(checkpoint, where)
    api = import_package("depth_anything_3.api", _INSTALL, where)
    try:
        return api.DepthAnything3.from_pretrained(str(checkpoint.folder)).to(device).eval()
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise ContractError(f"{where} could not be loaded: {first_line(error)}") from None


IMPLEMENTATION = DepthAnything3

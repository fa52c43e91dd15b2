"""MoGe-2 through its own package: metric depth; masked pixels have no prediction."""

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from PIL import Image

from mrac.conventions import ImageArray
from mrac.errors import ContractError, first_line
from mrac.foundation._checkpoint import Checkpoint, locate
from mrac.foundation._device import ComputeDevice, import_torch, resolve_device
from mrac.foundation._pretrained import Pretrained, import_package, resize_depth
from mrac.registry import check_numbers
from mrac.types import RelativeDepth

_INSTALL: Final = "pip install git+https://github.com/microsoft/MoGe.git"
_FILES: Final = ("model.pt",)
# Its network takes 3,600 tokens of 14 × 14 pixels at most; a larger image costs memory for its point map only.
_MAX_PIXELS: Final = 2**20


@dataclass(frozen=True)
class MoGe(Pretrained):
    """Depth in metres as MoGe-2 estimates it; the fit to the anchors corrects its scale.

    Its weights are a `model.pt`, which its package reads with `weights_only=True`: numbers and names, no code.

    Attributes:
        model: a folder with a model.pt, or a hub id whose files are in the Hugging Face cache.
        level: its resolution level, 0 (fast) to 9 (fine).
        fov_x_deg: the camera's horizontal field of view in degrees; 0 lets the network estimate it.
        device: `auto`, `cpu`, `cuda`, ...
    """

    version: ClassVar[str] = "moge-1"

    model: str = "Ruicheng/moge-2-vitl"
    level: int = 9
    fov_x_deg: float = 0.0
    device: str = "auto"

    def __post_init__(self) -> None:
        check_numbers(self, 0, 9, ("level",))
        check_numbers(self, 0, 179, ("fov_x_deg",))

    def __call__(self, image: ImageArray) -> RelativeDepth:
        """See `Foundation`.

        Raises:
            ContractError: the package or the weights are not here or not usable; the message says what to do.
            MissingExtra: torch is not installed.
        """
        checkpoint = self._checkpoint()
        torch = import_torch("foundation/moge")
        device = self._device().name
        network = _network(checkpoint, checkpoint.fingerprint, device)
        shape = (image.shape[0], image.shape[1])
        picture = Image.fromarray(image)
        shrink = math.sqrt(_MAX_PIXELS / (shape[0] * shape[1]))
        if shrink < 1:
            smaller = (max(int(shape[1] * shrink), 1), max(int(shape[0] * shrink), 1))
            picture = picture.resize(smaller, Image.Resampling.BICUBIC)
        pixels = torch.from_numpy(np.asarray(picture, np.float32) / np.float32(255)).permute(2, 0, 1).to(device)
        output = network.infer(
            pixels,
            resolution_level=self.level,
            fov_x=self.fov_x_deg or None,
            use_fp16=not device.startswith("cpu"),
        )
        depth = output["depth"].float().cpu().numpy()
        if depth.shape != (picture.height, picture.width):
            raise ContractError(f"foundation/moge: depth of shape {depth.shape} arrived; one (h, w) map is needed")
        return RelativeDepth(resize_depth(depth, shape), "depth")

    def _checkpoint(self) -> Checkpoint:
        return locate(self.model, "foundation/moge", patterns=_FILES)

    def _device(self) -> ComputeDevice:
        return resolve_device(self.device, "float32", "foundation/moge")

    def _settings(self, device: ComputeDevice) -> str:
        return f"level={self.level} fov={self.fov_x_deg:g} {device.kind}"


@lru_cache(maxsize=1)
def _network(checkpoint: Checkpoint, fingerprint: str, device: str) -> Any:
    where = f"foundation/moge: {checkpoint.name}"
    weights: Path = checkpoint.folder / "model.pt"
    if not weights.is_file():
        raise ContractError(f"{where}: {checkpoint.folder} holds no model.pt; a folder of MoGe-2 is needed")
    package = import_package("moge.model.v2", _INSTALL, where)
    try:
        return package.MoGeModel.from_pretrained(str(weights)).to(device).eval()
    except Exception as error:  # torch.load raises the pickle module's errors on what is no checkpoint
        raise ContractError(f"{where} could not be loaded: {first_line(error)}") from None


IMPLEMENTATION = MoGe

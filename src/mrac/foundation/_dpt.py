"""DPT (MiDaS 3.0 and 3.1) with ViT, ViT hybrid, BEiT and SwinV2 encoders: inverse depth."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.foundation._family import Family, inverse_depth, upsampled
from mrac.foundation._input import Settings, nearest_size, normalised, pil_resized
from mrac.resample import cubic_taps, sample

_DEFAULTS = Settings(
    size=(384, 384),
    keep_aspect=False,
    multiple=1,
    resample=3,
    mean=(0.5, 0.5, 0.5),
    std=(0.5, 0.5, 0.5),
)


class Dpt(Family):
    """Resizes the image to a square, as transformers' checkpoints do.

    MiDaS itself keeps the aspect ratio for BEiT (`original`) and uses a square for SwinV2. transformers' ViT and hybrid
    take square inputs only.
    """

    model_class = "DPTForDepthEstimation"
    space = "inverse_depth"

    def __init__(self, config: Any, stated: Mapping[str, Any], resize: str, where: str) -> None:
        backbone = config.backbone_config
        plain = bool(config.is_hybrid) or backbone is None
        # Without a preprocessor_config.json the size is that of the position embedding in the configuration.
        trained = int(config.image_size if plain else backbone.image_size)
        defaults = replace(_DEFAULTS, size=(trained, trained))
        self.settings = defaults.override(stated, where)
        self.original = resize == "original"
        if self.original and plain:
            raise ContractError(
                f"{where}: MiDaS keeps the aspect ratio, but this network takes squares only; drop resize"
            )
        if self.original and backbone.model_type == "beit":
            self.settings = replace(self.settings, keep_aspect=True, multiple=32)
        if plain and (self.settings.keep_aspect or self.settings.size[0] != self.settings.size[1]):
            raise ContractError(
                f"{where}: its preprocessor_config.json keeps the aspect ratio, but it takes squares only"
            )

    def prepare(self, image: ImageArray) -> FloatArray:
        """See `Family`."""
        shape = (image.shape[0], image.shape[1])
        size = nearest_size(shape, self.settings)
        if not self.original:
            return normalised(pil_resized(image, size, self.settings), self.settings)
        return normalised(sample(image, cubic_taps(shape[0], size[0]), cubic_taps(shape[1], size[1])), self.settings)

    def finish(self, raw: torch.Tensor, shape: tuple[int, int]) -> torch.Tensor:
        """See `Family`."""
        return inverse_depth(upsampled(raw, shape, "bicubic"))

    def trunk(self, model: Any) -> torch.nn.Module:
        """See `Family`."""
        trunk: torch.nn.Module = model.dpt if model.backbone is None else model.backbone
        return trunk


FAMILY = Dpt

"""ZoeDepth: metric depth from adaptive bins on a BEiT encoder."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from mrac.conventions import FloatArray, ImageArray
from mrac.foundation._family import Family, metric_depth
from mrac.foundation._input import Settings, nearest_size, normalised
from mrac.resample import linear_taps, sample

_DEFAULTS = Settings(
    size=(384, 512),
    keep_aspect=True,
    multiple=32,
    resample=2,
    mean=(0.5, 0.5, 0.5),
    std=(0.5, 0.5, 0.5),
)


class ZoeDepth(Family):
    """Pads the image by reflection, averages the predictions of it and its mirror image, and crops the padding.

    Both resize rules are the same here.
    """

    model_class = "ZoeDepthForDepthEstimation"
    space = "depth"

    def __init__(self, config: Any, stated: Mapping[str, Any], resize: str, where: str) -> None:
        self.settings = _DEFAULTS.override(stated, where)
        self.pads = bool(stated.get("do_pad", True))

    def prepare(self, image: ImageArray) -> FloatArray:
        """See `Family`."""
        shape = (image.shape[0], image.shape[1])
        pads = [self._pad(side) for side in shape]
        padded = (shape[0] + 2 * pads[0], shape[1] + 2 * pads[1])
        size = nearest_size(padded, self.settings)
        rows, columns = (
            linear_taps(padded[axis], size[axis], align_corners=True).reflected(shape[axis], pads[axis])
            for axis in (0, 1)
        )
        return normalised(sample(image, rows, columns), self.settings)

    def _pad(self, side: int) -> int:
        return int(np.sqrt(side / 2) * 3) if self.pads else 0

    def predict(self, model: Any, pixels: torch.Tensor) -> torch.Tensor:
        """See `Family`."""
        return (super().predict(model, pixels) + super().predict(model, pixels.flip(-1)).flip(-1)) / 2

    def finish(self, raw: torch.Tensor, shape: tuple[int, int]) -> torch.Tensor:
        """See `Family`."""
        top, left = self._pad(shape[0]), self._pad(shape[1])
        values = metric_depth(raw, (shape[0] + 2 * top, shape[1] + 2 * left))
        return values[top : top + shape[0], left : left + shape[1]]

    def trunk(self, model: Any) -> torch.nn.Module:
        """See `Family`."""
        backbone: torch.nn.Module = model.backbone
        return backbone


FAMILY = ZoeDepth

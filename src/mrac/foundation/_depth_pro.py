"""Depth Pro: canonical inverse depth at 1536 × 1536 pixels."""

from collections.abc import Mapping
from typing import Any

import torch

from mrac.conventions import FloatArray, ImageArray
from mrac.foundation._family import Family, inverse_depth, upsampled
from mrac.foundation._input import Settings, normalised
from mrac.resample import linear_taps, sample

_DEFAULTS = Settings(
    size=(1536, 1536),
    keep_aspect=False,
    multiple=1,
    resample=2,
    mean=(0.5, 0.5, 0.5),
    std=(0.5, 0.5, 0.5),
)


class DepthPro(Family):
    """Inverse depth up to scale: the raw output, without the estimate of the focal length.

    Metric inverse depth is the raw output times width over focal length: one factor for the whole image, which the
    fit to the anchors finds better than the field-of-view head. That head, a third of the weights, is not loaded.
    Both resize rules are the same here.
    """

    model_class = "DepthProForDepthEstimation"
    load_options = {"use_fov_model": False}  # noqa: RUF012  (never changed; ClassVar in the base)
    space = "inverse_depth"

    def __init__(self, config: Any, stated: Mapping[str, Any], resize: str, where: str) -> None:
        self.settings = _DEFAULTS.override(stated, where)

    def prepare(self, image: ImageArray) -> FloatArray:
        """See `Family`."""
        rows, columns = (
            linear_taps(image.shape[axis], self.settings.size[axis], align_corners=False) for axis in (0, 1)
        )
        return normalised(sample(image, rows, columns), self.settings)

    def finish(self, raw: torch.Tensor, shape: tuple[int, int]) -> torch.Tensor:
        """See `Family`."""
        return inverse_depth(upsampled(raw, shape, "bilinear"))

    def trunk(self, model: Any) -> torch.nn.Module:
        """See `Family`."""
        encoders: torch.nn.Module = model.depth_pro
        return encoders


FAMILY = DepthPro

"""Depth Anything V1 and V2, relative and metric: a DINOv2 encoder with a DPT decoder."""

import re
from collections.abc import Mapping
from typing import Any

import torch

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.foundation._depth_anything_input import SETTINGS, network_input
from mrac.foundation._family import Family, inverse_depth, metric_depth, possible_depth, upsampled

_NAMED_V2 = re.compile(r"anything[-_ ]?v2|dav2", re.IGNORECASE)


class DepthAnything(Family):
    """Inverse depth from the relative checkpoints, metres from the metric ones.

    The two resize rules agree on ordinary photographs. `original` enlarges images smaller than 518 pixels further and
    keeps the height of very wide ones; it also enlarges the map linearly, where transformers does so bicubically.
    """

    model_class = "DepthAnythingForDepthEstimation"

    def __init__(self, config: Any, stated: Mapping[str, Any], resize: str, where: str) -> None:
        _check_indices(config, where)
        self.settings = SETTINGS.override(stated, where)
        self.resize = resize
        self.metric = config.depth_estimation_type == "metric"
        self.space = "depth" if self.metric else "inverse_depth"

    def prepare(self, image: ImageArray) -> FloatArray:
        """See `Family`."""
        return network_input(image, self.settings, self.resize)

    def finish(self, raw: torch.Tensor, shape: tuple[int, int]) -> torch.Tensor:
        """See `Family`."""
        if self.resize == "original":
            values = upsampled(raw, shape, "bilinear", align_corners=True)
            return possible_depth(values) if self.metric else inverse_depth(values)
        return metric_depth(raw, shape) if self.metric else inverse_depth(upsampled(raw, shape, "bicubic"))

    def trunk(self, model: Any) -> torch.nn.Module:
        """See `Family`."""
        backbone: torch.nn.Module = model.backbone
        return backbone


def _check_indices(config: Any, where: str) -> None:
    """Raises `ContractError` if a V2 checkpoint has the layer indices of V1.

    V1 reads the last four layers, V2 four spread over all; the weights load with either, but only one is right.
    """
    indices = [int(i) for i in config.backbone_config.out_indices]
    depth = int(config.backbone_config.num_hidden_layers)
    if _NAMED_V2.search(where) and depth >= 12 and indices == list(range(depth - 3, depth + 1)):
        right = [5, 12, 18, 24] if depth == 24 else [3, 6, 9, 12]
        raise ContractError(
            f"{where}: its name says V2, but out_indices {indices} in its config.json are those of V1. "
            f"Correct them to {right} (and out_features alike), or rename the folder if the weights are V1's"
        )


FAMILY = DepthAnything

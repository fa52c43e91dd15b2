"""Depth Anything V2 Small by ONNX Runtime, no torch: `mrac fetch dav2-small` gets its weights (Apache-2.0)."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.foundation._checkpoint import file_identity
from mrac.foundation._depth_anything_input import RESIZE, SETTINGS, network_input
from mrac.foundation._published_file import DAV2_SMALL
from mrac.foundation.base import Foundation
from mrac.io.files import user_path
from mrac.registry import check_numbers
from mrac.resample import cubic_taps, linear_taps, sample
from mrac.runtime.onnx_session import graph_identity, run_network
from mrac.runtime.weight_files import WEIGHTS
from mrac.types import RelativeDepth

GRAPH: Final = WEIGHTS / "dav2_small.onnx"
_WHERE: Final = "foundation/dav2-small"


@dataclass(frozen=True)
class DepthAnythingSmall(Foundation):
    """The official weights in a graph of this package's own, which has none; `hf` runs the same network by torch.

    Attributes:
        path: the file model.safetensors of depth-anything/Depth-Anything-V2-Small-hf, or its folder; empty takes the
            one that `mrac fetch dav2-small` got.
        size: of the short side in pixels, a multiple of 14. 518 is what the network was trained at; a smaller one is
            faster and coarser.
        resize: `checkpoint` resizes as transformers does, `original` as the authors' own repository.
    """

    path: str = ""
    size: int = 518
    resize: str = "checkpoint"

    def __post_init__(self) -> None:
        check_numbers(self, SETTINGS.multiple, 2072)
        if self.size % SETTINGS.multiple:
            near = round(self.size / SETTINGS.multiple) * SETTINGS.multiple
            raise ContractError(f"{_WHERE}: size {self.size}; a multiple of 14 is needed, such as {near}")
        if self.resize not in RESIZE:
            raise ContractError(f"{_WHERE}: resize {self.resize!r}; one of {', '.join(RESIZE)} is needed")

    @property
    def identity(self) -> str | None:
        """See `Foundation`; None while the weights are not on this machine."""
        try:
            weights = file_identity(self._weights())
        except (ContractError, OSError):
            return None  # the call itself raises the error
        return f"dav2-small 1, {graph_identity(GRAPH)}, {weights}, {self.size} {self.resize}"

    def __call__(self, image: ImageArray) -> RelativeDepth:
        """See `Foundation`.

        Raises:
            ContractError: the weights are not here, damaged or another network's; the message says what to do.
        """
        settings = replace(SETTINGS, size=(self.size, self.size))
        pixels = network_input(image, settings, self.resize)
        raw: FloatArray = run_network(GRAPH, pixels[None], _WHERE, weights=self._weights())[0]
        return RelativeDepth(self._enlarged(raw, (image.shape[0], image.shape[1])), "inverse_depth")

    def _enlarged(self, raw: FloatArray, shape: tuple[int, int]) -> FloatArray:
        """The network's map (h, w) at the image's size, as `_depth_anything` does it with torch."""
        sides = list(zip(raw.shape, shape, strict=True))
        if self.resize == "original":
            rows, columns = (linear_taps(size, count, align_corners=True) for size, count in sides)
        else:
            rows, columns = (cubic_taps(size, count) for size, count in sides)
        # Bicubic resizing overshoots below zero, which is infinity, beside the sky.
        return np.maximum(sample(raw, rows, columns), np.float32(0.0))

    def _weights(self) -> Path:
        if not self.path:
            return DAV2_SMALL.located(_WHERE)
        path = user_path(self.path)
        path = path / DAV2_SMALL.file if path.is_dir() else path
        if not path.is_file():
            raise ContractError(f"{_WHERE}: no file {path}. {DAV2_SMALL.advice()}")
        _check_settings(path.with_name("config.json"))
        return path


def _check_settings(config: Path) -> None:
    """Raises `ContractError` if the file of settings beside the weights is another network's of the same tensors."""
    try:
        stated = json.loads(config.read_text(encoding="utf-8"))
        kind = stated.get("depth_estimation_type", "relative")
        indices = stated.get("backbone_config", {}).get("out_indices", [3, 6, 9, 12])
    except (OSError, ValueError, AttributeError):
        return  # it is not needed: the graph has the settings
    if kind != "relative" or indices != [3, 6, 9, 12]:
        raise ContractError(
            f"{_WHERE}: {config} is of another network (depth_estimation_type {kind!r}, out_indices {indices}); use it "
            f"with torch: hf:{config.parent}"
        )


IMPLEMENTATION = DepthAnythingSmall

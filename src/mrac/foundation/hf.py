"""Depth Anything, DPT/MiDaS, ZoeDepth or Depth Pro through transformers: a folder or a hub id."""

from dataclasses import dataclass

from mrac.conventions import ImageArray
from mrac.errors import ContractError, MissingExtra
from mrac.foundation._checkpoint import Checkpoint, locate
from mrac.foundation._placement import check_dtype, import_torch, place
from mrac.foundation.base import Foundation
from mrac.types import RelativeDepth

_RESIZE = ("checkpoint", "original")
_FILES = ("*.json", "*.safetensors")


@dataclass(frozen=True)
class HuggingFace(Foundation):
    """Runs a network of transformers on weights in safetensors; nothing is fetched unless asked for.

    Attributes:
        model: a folder, or an id whose files are in the Hugging Face cache (`hf download ID` puts them there).
        resize: `checkpoint` resizes as its preprocessor_config.json and transformers do; `original` as the authors'
            own repository does, which differs on small and on very wide images.
        device: `auto` (a GPU where there is one), `cpu`, `cuda`, `cuda:1`, `mps`.
        dtype: of the trunk: `auto` (half precision on a CUDA GPU, else single), `float32`, `float16`, `bfloat16`.
        download: 1 fetches weights that are not on this machine; 0 names the command that does.
    """

    model: str
    resize: str = "checkpoint"
    device: str = "auto"
    dtype: str = "auto"
    download: int = 0

    def __post_init__(self) -> None:
        check_dtype(self.dtype, self._where)
        if self.resize not in _RESIZE:
            raise ContractError(f"{self._where}: resize {self.resize!r}; one of {', '.join(_RESIZE)} is needed")

    def __call__(self, image: ImageArray) -> RelativeDepth:
        """See `Foundation`.

        Raises:
            ContractError: the weights are not here or not usable; the message says what to do.
            MissingExtra: torch or transformers is not installed.
        """
        checkpoint = self._checkpoint(download=bool(self.download))
        import_torch(self._where)
        from mrac.foundation._network import load  # noqa: PLC0415  (needs torch)

        placement = place(self.device, self.dtype, self._where)
        return load(checkpoint, checkpoint.fingerprint, self.resize, placement, self._where)(image)

    @property
    def identity(self) -> str | None:
        """See `Foundation`; None while the weights are not on this machine or torch is not installed."""
        try:
            checkpoint = self._checkpoint(download=False)
            placement = place(self.device, self.dtype, self._where)
        except (ContractError, MissingExtra):
            return None
        # The number goes up with any change here that changes the output.
        kind = placement.device.partition(":")[0]
        return f"hf-1 {self.model} {checkpoint.fingerprint} {self.resize} {kind} {placement.dtype}"

    @property
    def _where(self) -> str:
        return f"foundation/hf: {self.model}"

    def _checkpoint(self, *, download: bool) -> Checkpoint:
        return locate(self.model, "foundation/hf", patterns=_FILES, download=download)


IMPLEMENTATION = HuggingFace

"""Depth Anything, DPT/MiDaS, ZoeDepth or Depth Pro through transformers: a folder or a hub id."""

from dataclasses import dataclass
from typing import ClassVar, Final

from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.foundation._checkpoint import Checkpoint, locate
from mrac.foundation._depth_anything_input import RESIZE
from mrac.foundation._device import ComputeDevice, check_dtype, import_torch, resolve_device
from mrac.foundation._pretrained import Pretrained
from mrac.types import RelativeDepth

_FILES: Final = ("*.json", "*.safetensors")


@dataclass(frozen=True)
class HuggingFace(Pretrained):
    """Runs a network of transformers on weights in safetensors; nothing is downloaded by default.

    Attributes:
        model: a folder, or an id whose files are in the Hugging Face cache (`hf download ID` puts them there).
        resize: `checkpoint` resizes as its preprocessor_config.json and transformers do; `original` as the authors'
            own repository does, which differs on small and on very wide images.
        device: `auto` (a GPU where there is one), `cpu`, `cuda`, `cuda:1`, `mps`.
        dtype: of the trunk: `auto` (half precision on a CUDA GPU, else single), `float32`, `float16`, `bfloat16`.
        download: 1 downloads weights that are not on this machine; 0 raises an error that names the command.
    """

    version: ClassVar[str] = "hf-1"

    model: str
    resize: str = "checkpoint"
    device: str = "auto"
    dtype: str = "auto"
    download: int = 0

    def __post_init__(self) -> None:
        check_dtype(self.dtype, self._where)
        if self.resize not in RESIZE:
            raise ContractError(f"{self._where}: resize {self.resize!r}; one of {', '.join(RESIZE)} is needed")

    def __call__(self, image: ImageArray) -> RelativeDepth:
        """See `Foundation`.

        Raises:
            ContractError: the weights are not here or not usable; the message says what to do.
            MissingExtra: torch or transformers is not installed.
        """
        checkpoint = self._checkpoint(download=bool(self.download))
        import_torch(self._where)
        from mrac.foundation._network import load  # noqa: PLC0415  (needs torch)

        return load(checkpoint, checkpoint.fingerprint, self.resize, self._device(), self._where)(image)

    @property
    def _where(self) -> str:
        return f"foundation/hf: {self.model}"

    def _checkpoint(self, *, download: bool = False) -> Checkpoint:
        return locate(self.model, "foundation/hf", patterns=_FILES, download=download)

    def _device(self) -> ComputeDevice:
        return resolve_device(self.device, self.dtype, self._where)

    def _settings(self, device: ComputeDevice) -> str:
        return f"{self.resize} {device.kind} {device.dtype}"


IMPLEMENTATION = HuggingFace

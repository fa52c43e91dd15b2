"""Marigold, a diffusion model of depth, through diffusers: seeded, so that one image gives one result."""

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar, Final

import numpy as np
from PIL import Image

from mrac.conventions import ImageArray
from mrac.errors import ContractError, MissingExtra, first_line
from mrac.foundation._checkpoint import Checkpoint, check_safetensors, locate
from mrac.foundation._device import ComputeDevice, check_dtype, import_torch, resolve_device
from mrac.foundation._pretrained import Pretrained
from mrac.registry import check_numbers
from mrac.relative import resize_field
from mrac.types import RelativeDepth

# The tokenizer has a .txt; the repository holds the weights in single and in half precision, of which half is used.
_FILES: Final = ("*.json", "*.txt", "*.fp16.safetensors")


@dataclass(frozen=True)
class Marigold(Pretrained):
    """Affine-invariant depth in [0, 1], 0 the nearest: the shift is unknown, so zeros are values like any other.

    Attributes:
        model: a folder, or a hub id whose files are in the Hugging Face cache.
        steps: of denoising; 0 takes the checkpoint's own number.
        ensemble: number of predictions drawn and averaged by the pipeline.
        resolution: the long side in pixels of the network's input.
        seed: of the noise it starts from.
        device: `auto`, `cpu`, `cuda`, ...
        dtype: `auto` (bfloat16 on a GPU: its decoder overflows in float16), `float32`, `float16`, `bfloat16`.
    """

    version: ClassVar[str] = "marigold-1"

    model: str = "prs-eth/marigold-depth-v1-1"
    steps: int = 0
    ensemble: int = 1
    resolution: int = 768
    seed: int = 0
    device: str = "auto"
    dtype: str = "auto"

    def __post_init__(self) -> None:
        check_dtype(self.dtype, "foundation/marigold")
        check_numbers(self, 0, 2**31 - 1, ("steps", "seed"))
        check_numbers(self, 1, 4096, ("ensemble", "resolution"))

    def __call__(self, image: ImageArray) -> RelativeDepth:
        """See `Foundation`.

        Raises:
            ContractError: the weights are not here or not usable; the message says what to do.
            MissingExtra: diffusers or torch is not installed.
        """
        checkpoint = self._checkpoint()
        torch = import_torch("foundation/marigold")
        device = self._device()
        pipeline = _pipeline(checkpoint, checkpoint.fingerprint, device)
        shape = (image.shape[0], image.shape[1])
        picture = Image.fromarray(image)
        if max(shape) > self.resolution:  # the pipeline would first make a float copy of the whole image
            picture.thumbnail((self.resolution, self.resolution), Image.Resampling.BILINEAR, reducing_gap=3.0)
        output = pipeline(
            picture,
            num_inference_steps=self.steps or None,
            ensemble_size=self.ensemble,
            processing_resolution=self.resolution,
            match_input_resolution=False,
            generator=torch.Generator(device.name).manual_seed(self.seed),
            output_type="np",
        ).prediction
        values = np.asarray(output, np.float32)
        if values.ndim != 4 or values.shape[0] != 1 or values.shape[3] != 1:
            raise ContractError(
                f"foundation/marigold: an output of shape {values.shape} arrived; (1, h, w, 1) is needed"
            )
        return RelativeDepth(resize_field(values[0, :, :, 0], shape), "depth")

    def _checkpoint(self) -> Checkpoint:
        return locate(self.model, "foundation/marigold", patterns=_FILES, extra="diffusion")

    def _device(self) -> ComputeDevice:
        return resolve_device(self.device, self.dtype, "foundation/marigold")

    def _settings(self, device: ComputeDevice) -> str:
        run = f"steps={self.steps} ensemble={self.ensemble} resolution={self.resolution} seed={self.seed}"
        return f"{run} {device.kind} {device.dtype}"


@lru_cache(maxsize=1)
def _pipeline(checkpoint: Checkpoint, fingerprint: str, device: ComputeDevice) -> Any:
    where = f"foundation/marigold: {checkpoint.name}"
    check_safetensors(checkpoint, where, "unet")
    torch = import_torch(where)
    try:
        diffusers = import_module("diffusers")
    except ImportError:
        raise MissingExtra(where, "diffusion") from None
    half = any((checkpoint.folder / "unet").glob("*.fp16.safetensors"))
    try:
        pipeline = diffusers.MarigoldDepthPipeline.from_pretrained(
            checkpoint.folder,
            variant="fp16" if half else None,
            torch_dtype=getattr(torch, device.dtype),
            use_safetensors=True,
            local_files_only=True,
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ContractError(f"{where} could not be loaded: {first_line(error)}") from None
    pipeline.set_progress_bar_config(disable=True)
    return pipeline.to(device.name)


IMPLEMENTATION = Marigold

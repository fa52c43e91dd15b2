"""`GpuCalibrator`: the method `default` for batches of frames of one size, on a device from image to metric depth."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from mrac.anchors import Anchors
from mrac.anchors._validity import Usable, usable
from mrac.arguments import check_call
from mrac.conventions import ImageArray
from mrac.errors import ContractError
from mrac.gpu.device import device_named
from mrac.gpu.graph import Recording
from mrac.gpu.kernels.source import fit_on, own_kernels
from mrac.gpu.stages import GpuResult, Stages

__all__ = ["GpuCalibrator", "GpuFrame", "GpuResult", "Tuning"]

# Numbers of readings that are recorded; a frame is padded to one. From 160 on readings are judged in groups, beyond 256
# the head works in tiles.
BUCKETS: Final = (16, 32, 64, 128, 160, 256, 320, 640, 1024)
MAX_ANCHORS: Final = BUCKETS[-1]
_MAX_PIXELS: Final = 1 << 24  # that torch can put in order, and far beyond what a batch needs


class GpuFrame(NamedTuple):
    """One frame of `GpuCalibrator.frames`, on the device: (H, W) depth and deviation, (K,) verdicts on its anchors."""

    depth_m: Tensor
    sigma_m: Tensor
    outlier_probability: Tensor
    keep: Tensor
    weight: Tensor
    use_relative: Tensor


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """How a `GpuCalibrator` computes; but for `max_dense` no choice changes a result.

    Attributes:
        max_dense: the most readings of a group, 160 or less, that may lie in dense clusters; None is all, as in the
            reference. Fewer take less time: of clusters beyond, readings are judged as if they lay apart.
        own_kernels: whether `mrac.gpu.kernels` take the place of many of torch's; None is wherever they run: with
            torch 2.11 or newer, on a GPU that gives a block of threads 227 kB, such as an H100 or H200.
        compile: whether `torch.compile` fuses the rest before it is recorded: a third to half of the time of a call,
            for a minute or two more at the warm-up of each size.
    """

    max_dense: int | None = None
    own_kernels: bool | None = None
    compile: bool = False


class GpuCalibrator:
    """Calibrates batches of frames on a GPU, to 1e-4 of the depth of `mrac.Calibrator(foundation="embedded")` on a CPU.

    That is the method `default` with both passes of the network in single precision; 8 bits are for processors. All
    readings are points here, as where `extent_px` is stated as 0.

    Batches of any number of frames up to `batch` are padded to a power of two, readings to one of `BUCKETS`, and each
    such size is recorded as one CUDA graph by `warm_up`. Nothing then waits for the host. On the device `cpu` the same
    runs as it is, for tests.

    Args:
        shape: (H, W) of all images.
        batch: the most frames at once.
        max_anchors: the most readings of a frame, up to 1024.
        device: as torch names it.
        network_dtype: in which the network computes: `float32` as the reference; `float16` and `bfloat16` are faster,
            and no longer equal to 1e-4. Gate, fit and kriging are not affected.
        tuning: how it is computed.

    Raises:
        ContractError: a number is out of range, or the device is not there.
        MissingExtra: `onnx` is not installed.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        *,
        batch: int = 1,
        max_anchors: int = 64,
        device: str = "cuda",
        network_dtype: str = "float32",
        tuning: Tuning = Tuning(),  # noqa: B008  (frozen)
    ) -> None:
        self.shape, self.batch, self.max_anchors = shape, batch, max_anchors
        self.device = _device(device)
        _check(shape, batch, max_anchors, network_dtype)
        dense = max_anchors if tuning.max_dense is None else tuning.max_dense
        self.stages = Stages(shape, getattr(torch, network_dtype), self._sizes(), dense).to(self.device)
        self.stages.eval().requires_grad_(False)
        own = fit_on(self.device) if tuning.own_kernels is None else tuning.own_kernels
        self._own_kernels = own and self.device.type == "cuda"
        self._compile = tuning.compile
        if tuning.compile:
            self.stages.compile_parts()
        self._recorded: dict[tuple[int, int], Recording[GpuResult]] = {}

    def sizes(self) -> list[tuple[int, int]]:
        """(frames, readings) of every size that `warm_up` records."""
        frames = sorted({*(1 << i for i in range(self.batch.bit_length())), self.batch})
        return [(B, K) for B in frames if self.batch >= B for K in self._sizes()]

    def _sizes(self) -> list[int]:
        return sorted({*(n for n in BUCKETS if n < self.max_anchors), self.max_anchors})

    def warm_up(self, sizes: Sequence[tuple[int, int]] | None = None) -> None:
        """Records every size, or only these of `sizes()`; seconds for each. A call of another size is refused."""
        for size in self.sizes() if sizes is None else sizes:
            if size not in self.sizes():
                raise ContractError(
                    f"gpu: warm-up of {size} (frames, readings) was asked for; one of {self.sizes()} is needed"
                )
            if size not in self._recorded:
                with own_kernels(self._own_kernels), _compiled_for(len(self.sizes()), self._compile):
                    self._recorded[size] = Recording(self.stages, self._empty(*size))

    def __call__(self, images_BHW3: Tensor, uv_px_BK2: Tensor, z_m_BK: Tensor, count_B: Tensor) -> GpuResult:
        """Calibrates a batch; returns at once, while the device computes.

        The readings of each frame must be usable and one per pixel, by pixel row and then column, as
        `mrac.anchors._validity.usable` gives them: nothing checks that here. `frames` does it for you.

        Args:
            images_BHW3: uint8 RGB.
            uv_px_BK2: floating point positions, in the image; what lies past the count is not read.
            z_m_BK: metres, from 1e-3 to 1e4.
            count_B: integers, the number of readings of each frame, from 0 to K.

        Returns:
            Tensors on the device; on a GPU the next call overwrites them, so clone what is to last.

        Raises:
            ContractError: shapes do not fit together or exceed what was asked for, or the size is not warmed up.
        """
        B, K = z_m_BK.shape
        self._check_call(images_BHW3, uv_px_BK2, z_m_BK, count_B)
        recording = self._recording(B, K)
        for own, given in zip(recording.inputs, (images_BHW3, uv_px_BK2, z_m_BK, count_B), strict=True):
            part = own[:B, :K] if own.dim() in (2, 3) else own[:B]  # readings, or images and counts
            part.copy_(given, non_blocking=True)
        recording.inputs[3][B:].zero_()
        result = recording.play()
        depth_m, sigma_m, outlier, keep, weight, use_relative = (part[:B] for part in result)
        return GpuResult(depth_m, sigma_m, outlier[:, :K], keep[:, :K], weight[:, :K], use_relative)

    def frames(self, images: Sequence[ImageArray], anchors: Sequence[Anchors]) -> list[GpuFrame]:
        """Calibrates up to `batch` frames as `mrac.Calibrator` takes them; merging and upload happen on the host.

        Args:
            images: (H, W, 3) uint8 each.
            anchors: of each, up to `max_anchors` usable pixels; without stated deviations, areas or confidences.

        Returns:
            Copies that last, with a verdict on every anchor as it was given: an unusable one is not kept.

        Raises:
            ContractError: as `Calibrator`, or an anchor has what is not supported here, or an image another size.
        """
        if len(images) != len(anchors):
            raise ContractError(f"gpu: {len(images)} images and {len(anchors)} sets of anchors; one for each is needed")
        if not images:
            return []
        merged = [self._usable(image, each) for image, each in zip(images, anchors, strict=True)]
        B, K = len(merged), max([1, *(len(one.readings) for one in merged)])
        uv_px, z_m = np.zeros((B, K, 2)), np.ones((B, K))
        for i, one in enumerate(merged):
            uv_px[i, : len(one.readings)], z_m[i, : len(one.readings)] = one.readings.uv_px, one.readings.z_m
        count = torch.tensor([len(one.readings) for one in merged])
        result = self(torch.from_numpy(np.stack(images)), torch.from_numpy(uv_px), torch.from_numpy(z_m), count)
        return [_frame(result, i, one.place) for i, one in enumerate(merged)]

    def _usable(self, image: ImageArray, anchors: Anchors) -> Usable:
        """What of a frame's anchors the device is given."""
        check_call(image, anchors, None)
        if image.shape[:2] != self.shape:
            raise ContractError(f"gpu: an image of {image.shape[:2]} arrived, (H, W) = {self.shape} is needed")
        areas = anchors.extent_px is not None and anchors.extent_px.any()
        stated = {
            "sigma_m": anchors.sigma_m is not None,
            "extent_px": areas,
            "confidence": anchors.confidence is not None,
        }
        for name, given in stated.items():
            if given:
                raise ContractError(f"gpu: anchors with {name} arrived, which only mrac.Calibrator takes; leave it out")
        used = usable(anchors, self.shape, None)
        if len(anchors) and not len(used.readings):
            raise ContractError(f"gpu: none of the {len(anchors)} anchors of a frame is usable; at least one is needed")
        return used

    def _recording(self, B: int, K: int) -> Recording[GpuResult]:
        size = next((size for size in self.sizes() if size[0] >= B and size[1] >= K), None)
        if size is None:
            raise ContractError(
                f"gpu: {B} frames of {K} readings arrived, at most {self.batch} of {self.max_anchors} were asked for; "
                "make the GpuCalibrator larger or the batch smaller"
            )
        if size not in self._recorded:
            if self.device.type == "cuda":
                raise ContractError(f"gpu: {size} (frames, readings) is not recorded; call warm_up() first")
            self._recorded[size] = Recording(self.stages, self._empty(*size))
        return self._recorded[size]

    def _empty(self, B: int, K: int) -> tuple[Tensor, ...]:
        zeros: Callable[..., Tensor] = torch.zeros
        return (
            zeros((B, *self.shape, 3), dtype=torch.uint8, device=self.device),
            zeros((B, K, 2), dtype=torch.float64, device=self.device),
            zeros((B, K), dtype=torch.float64, device=self.device),
            zeros(B, dtype=torch.int64, device=self.device),
        )

    def _check_call(self, images: Tensor, uv_px: Tensor, z_m: Tensor, count: Tensor) -> None:
        B, K = z_m.shape
        found = tuple(images.shape), tuple(uv_px.shape), tuple(count.shape)
        needed = (B, *self.shape, 3), (B, K, 2), (B,)
        if found != needed or images.dtype != torch.uint8:
            raise ContractError(
                f"gpu: images {found[0]} {images.dtype}, uv_px {found[1]} and count {found[2]} came with z_m {(B, K)}"
                f"; {needed[0]} uint8, {needed[1]} and {needed[2]} are needed"
            )


def _compiled_for(num_sizes: int, compile_parts: bool) -> AbstractContextManager[None]:
    """Inside, `torch.compile` may write a program for each size; it would give up, silently, after the eighth."""
    if not compile_parts:
        return nullcontext()
    import torch._dynamo  # noqa: PLC0415  (seconds)

    limit = 16 * num_sizes  # for several calibrators in one process
    patched: AbstractContextManager[None] = torch._dynamo.config.patch(
        recompile_limit=limit, accumulated_recompile_limit=16 * limit
    )
    return patched


def _frame(result: GpuResult, i: int, place: np.ndarray[tuple[int], np.dtype[np.intp]]) -> GpuFrame:
    """Frame `i`, with verdicts for all anchors: those merged into one reading share its verdict."""
    at = torch.from_numpy(place).to(result.keep.device, non_blocking=True)
    seen = at >= 0
    outlier, keep, weight = (part[i][at.clamp(min=0)] for part in result[2:5])
    return GpuFrame(
        result.depth_m[i].clone(),
        result.sigma_m[i].clone(),
        torch.where(seen, outlier, 1.0),
        keep & seen,
        torch.where(seen, weight, 0.0),
        result.use_relative[i].clone(),
    )


def _device(name: str) -> torch.device:
    device = device_named(name, "gpu")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ContractError(f"gpu: device {name} was asked for and torch finds no GPU; use device='cpu' for a trial")
    if device.type == "cuda" and device.index not in (None, torch.cuda.current_device()):
        raise ContractError(
            f"gpu: device {name} is not torch's current one; call torch.cuda.set_device({name!r}) first"
        )
    return device


def _check(shape: tuple[int, int], batch: int, max_anchors: int, dtype: str) -> None:
    H, W = shape
    if min(H, W) < 1 or H * W > _MAX_PIXELS:
        raise ContractError(
            f"gpu: images of {H} × {W} were asked for; sides >= 1 and up to {_MAX_PIXELS} pixels are needed"
        )
    if batch < 1 or not 1 <= max_anchors <= MAX_ANCHORS:
        raise ContractError(
            f"gpu: batch {batch} and max_anchors {max_anchors} arrived; batch >= 1 and max_anchors from 1 to "
            f"{MAX_ANCHORS} are needed: beyond that use mrac.Calibrator"
        )
    if dtype not in ("float32", "float16", "bfloat16"):
        raise ContractError(f"gpu: network_dtype {dtype!r} arrived; float32, float16 or bfloat16 is needed")

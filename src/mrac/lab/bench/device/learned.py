"""The residual and the raw head by torch: anchors marked as the head itself does, depth composed as in training."""

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.head._learned import affine_fallback
from mrac.head._rendering import SIGMA_FLOOR, Normalisation
from mrac.head._weights import HeadFile
from mrac.head.base import HeadResult, Scene
from mrac.head.raw_unet import RawUnet
from mrac.head.residual_unet import ResidualUnet
from mrac.lab.bench.device.equal_batches import run_in_equal_batches
from mrac.lab.train.heads.export import read_checkpoint
from mrac.lab.train.heads.residual_network import HeadNetwork, Line, compose, raw_depth
from mrac.runtime.onnx_session import network_metadata
from mrac.space import SIGMA_SHARE

# Composed at a time, in double precision: half a gigabyte of it, whatever the size of an image.
_NUM_PIXELS: Final = 1 << 23


class LearnedOnDevice:
    """See `BatchedHead`.

    Args:
        head: whose answers are given, to a thousandth: its .onnx has the same weights, rounded to 16 bits.
        device: torch's name of it.

    Raises:
        ContractError: beside the head's .onnx there is no .safetensors, or it is of another training.
    """

    def __init__(self, head: ResidualUnet | RawUnet, device: str) -> None:
        self._head, self._device = head, torch.device(device)
        self._file = head.head_file()
        self._path = self._file.path.with_suffix(".safetensors")
        if not self._path.is_file():
            raise ContractError(
                f"bench: {self._path.name} is needed beside {self._file.path}; `mrac train` writes both. "
                "--device cpu does without"
            )

    def __call__(self, scenes: Sequence[Scene]) -> list[HeadResult]:
        """See `BatchedHead`."""
        asked = [self._head.applies(self._file, scene) for scene in scenes]
        dense = iter(self._dense([scene for scene, yes in zip(scenes, asked, strict=True) if yes]))
        return [next(dense) if yes else affine_fallback(scene) for scene, yes in zip(scenes, asked, strict=True)]

    @torch.inference_mode()
    def _dense(self, scenes: Sequence[Scene]) -> list[HeadResult]:
        if not scenes:
            return []
        head, file, relative = self._head, self._file, scenes[0].relative
        assert relative is not None  # or the head would not apply
        image = head.image_input(file, scenes[0].image, relative)
        anchors = [head.anchor_input(file, scene, image) for scene in scenes]
        shared = [self._tensor(v).expand(len(scenes), -1, -1, -1) for v in (image.image, image.relative[None])]
        own = [self._tensor(np.stack([getattr(one, name) for one in anchors])[:, None]) for name in ("mask", "anchor")]
        maps = run_in_equal_batches(_load(self._path, file, self._device), [*shared, *own])
        numbers = np.array([(s.fit.scale, s.fit.shift, one.unit) for s, one in zip(scenes, anchors, strict=True)])
        scale, shift, unit = self._tensor(numbers.T)
        finite = torch.isfinite(maps).flatten(1).all(dim=1).tolist()
        depth_m, sigma_m = self._composed(
            Line(scale, shift, unit, file.space), self._tensor(relative), image.normalisation, maps
        )
        return [
            HeadResult(depth_m[i], sigma_m[i]) if finite[i] else affine_fallback(scene)
            for i, scene in enumerate(scenes)
        ]

    def _tensor(self, values: FloatArray) -> Tensor:
        return torch.tensor(values, device=self._device)  # a copy: a field from the cache cannot be written to

    def _composed(
        self, line: Line, x_HW: Tensor, normalisation: Normalisation, maps: Tensor
    ) -> tuple[FloatArray, FloatArray]:
        """(B, H, W) depth and deviation, float32 metres."""
        normal_HW = (x_HW.double() - normalisation.low) / normalisation.span
        depth_m, sigma_m = np.empty((2, len(maps), *x_HW.shape), np.float32)
        step = max(_NUM_PIXELS // x_HW.numel(), 1)
        for rows in (slice(first, first + step) for first in range(0, len(maps), step)):
            large = maps[rows]
            if large.shape[2:] != x_HW.shape:
                large = functional.interpolate(large, tuple(x_HW.shape), mode="bilinear", align_corners=False)
            if isinstance(self._head, RawUnet):
                depth = raw_depth(large[:, 0])
            else:
                own = Line(line.scale[rows], line.shift[rows], line.unit[rows], line.space)
                x, normalised = (values.expand(len(large), -1, -1) for values in (x_HW, normal_HW))
                depth = compose(own, x, large[:, 0], large[:, 1], normal_BHW=normalised)
            depth_m[rows] = depth.cpu().numpy()
            sigma_m[rows] = (depth * _share_of_depth(large[:, -1])).cpu().numpy()
        return depth_m, sigma_m


def _share_of_depth(log_variance: Tensor) -> Tensor:
    """`head._learned.share_of_depth` for tensors."""
    low, high = SIGMA_SHARE
    variance = log_variance.clamp(max=2.0 * math.log(high)).exp() + SIGMA_FLOOR**2
    return variance.sqrt().clamp(low, high)


def _load(path: Path, file: HeadFile, device: torch.device) -> HeadNetwork:
    return _loaded(str(path), path.stat().st_mtime_ns, file, device)


@lru_cache(maxsize=8)
def _loaded(path: str, changed_ns: int, file: HeadFile, device: torch.device) -> HeadNetwork:
    module, about = read_checkpoint(Path(path))
    if not isinstance(module, HeadNetwork) or about != network_metadata(file.path, "bench"):
        raise ContractError(f"bench: {path} is not what {file.path.name} was written from; export it again")
    return module.to(device).eval()
